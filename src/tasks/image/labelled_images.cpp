// SPDX-License-Identifier: Apache-2.0
#include "tasks/image/labelled_images.h"

#include <fmt/format.h>
#include <linnet/image_task.h>
#include <linnet/series_transform.h>
#include <linnet/table_transform.h>

#include <utility>

#include "nn/definition.h"
#include "tasks/registry.h"

namespace linnet {
namespace {

class Images final : public Task {
 public:
  using Task::Task;

  std::string_view samples(const Dataset& /*train*/) const override { return "images"; }
  std::string title(const std::string& /*job*/, const Dataset& train) const override {
    return fmt::format("Images of {}{}", train.info().name, classes_text(train));
  }
  std::vector<RefusedSettings> refused() const override { return {}; }

  TaskClaim claims(const std::filesystem::path& path,
                   const TextColumns& /*columns*/) const override {
    std::error_code none;
    return std::filesystem::is_directory(path, none) ? TaskClaim::perhaps : TaskClaim::none;
  }
  PreparedTask prepare(const std::filesystem::path& path,
                       const TaskFileOptions& how) const override {
    ImageTaskOptions options{.validation = how.validation,
                             .test = how.test,
                             .stratify = how.stratify,
                             .seed = how.seed,
                             .files = how.files};
    if (how.from != nullptr) {
      options.files =
          datasets::options_for(*how.from, path.string(), how.places, std::move(options.files));
    }
    ImageTask made = image_task(path, options);
    return {task_of_images(std::move(made.data), std::move(made.notes)),
            how.from == nullptr ? std::move(made.network) : how.from->network(),
            std::move(made.training)};
  }

  bool made(const Model& model) const override {
    const NetworkDefinition& network = model.network().definition();
    const Shape sample = model.sample_shape();
    return model.table().empty() && model.series().empty() && network.inputs.size() == 1 &&
           network.inputs[0].dtype == DType::f32 && sample.rank() == 3 &&
           (sample[2] == 1 || sample[2] == 3);
  }
  std::string_view takes() const override { return "images"; }
  bool reads(TaskFiles files) const override { return files == TaskFiles::images; }
};

}  // namespace

void register_image_task(Tasks& tasks) { tasks.add(std::make_unique<const Images>()); }

std::shared_ptr<const Task> task_of_images(Splits data, std::vector<std::string> notes) {
  return std::make_shared<const Images>(std::move(data), std::move(notes));
}

}  // namespace linnet
