// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/image_task.h>
#include <linnet/series_transform.h>
#include <linnet/table_transform.h>

#include <optional>
#include <utility>

#include "datasets/load_dataset.h"
#include "nn/definition.h"
#include "tasks/image/image_defaults.h"
#include "tasks/image/image_page.h"
#include "tasks/options.h"
#include "tasks/registry.h"
#include "tasks/task_recipe.h"

namespace linnet {
namespace {

const Description& image_flags() {
  static const Description kAll = [] {
    Description all = description_of<ImageTaskOptions>();
    all.fields = joined({lifted<&ImageTaskOptions::files>(
                             {target_field(field<&DatasetOptions::targets>("targets"))}),
                         all.fields});
    return by_flags(all);
  }();
  return kAll;
}

class Images final : public Task {
 public:
  using Task::Task;

  std::string_view samples(const Dataset& /*train*/) const override { return "images"; }
  std::string title(const std::string& /*job*/, const Dataset& train) const override {
    return fmt::format("Images of {}{}", train.info().name, classes_text(train));
  }
  std::string_view is() const override { return "holds images"; }
  std::vector<TaskFlags> flags() const override { return {{.all = &image_flags()}}; }

  TaskClaim claims(const std::filesystem::path& path,
                   const DataSettings& /*settings*/) const override {
    std::error_code none;
    if (!std::filesystem::is_directory(path, none)) return {};
    try {
      if (find_dataset(path).kind != DataKind::npy) return {TaskClaim::perhaps};
    } catch (const DataError& error) {
      return {.why_not = error.what()};
    }
    return {
        .why_not =
            fmt::format("'{}' holds arrays, whose network a configuration describes: linnet train "
                        "FILE.toml with [data] path",
                        path.string())};
  }
  PreparedTask prepare(const std::filesystem::path& path,
                       const TaskFileOptions& how) const override {
    if (find_dataset(path).kind != DataKind::image_table) {
      how.settings.refuse({"target"}, "tables", sentence_on(*this, path.string()));
    }
    ImageTaskOptions options{.seed = how.seed, .files = how.files};
    how.settings.read(image_flags(), &options);
    if (how.from != nullptr) {
      options.files =
          datasets::options_for(*how.from, path.string(), how.places, std::move(options.files));
    }
    ImageTask made = image_task(path, options);
    if (how.from != nullptr) {
      suit_any_network(made.training);
      take_smaller_steps(made.training);
    }
    return {std::make_shared<const Images>(std::move(made.data), std::move(made.notes)),
            how.from == nullptr ? std::move(made.network) : how.from->network(),
            std::move(made.training)};
  }

  /// The smoothing of the recipe is for its own loss: others may take none.
  void replace_loss(TrainingOptions& training, std::optional<Loss> chosen,
                    bool /*by_output*/) const override {
    if (chosen) training.loss_options.label_smoothing = 0;
  }

  TaskPage page(const std::filesystem::path& path) const override {
    return page_of_images(path.string());
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

}  // namespace linnet
