// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/dataset.h>

#include <memory>

#include "json.h"
#include "machine.h"
#include "options.h"
#include "workloads.h"

namespace linnet::command {
namespace {

struct DataOptions {
  std::string path;
  bool json = false;
};

std::vector<std::int64_t> samples_by_class(const Dataset& data) {
  std::vector<std::int64_t> counts(data.class_names.size());
  for (const std::int32_t label : data.labels) ++counts[static_cast<std::size_t>(label)];
  return counts;
}

Json part_json(const Dataset& data) {
  return {{"name", data.name},
          {"samples", data.size()},
          {"sample_shape", data.sample_shape.dims()},
          {"dtype", to_string(data.sample_dtype)},
          {"bytes", data.bytes.size() + data.floats.size() * sizeof(float)},
          {"classes", data.class_names},
          {"samples_by_class", samples_by_class(data)}};
}

std::string part_text(std::string_view part, const Dataset& data) {
  if (data.size() == 0) return fmt::format("{:<6} empty\n", part);
  std::string out = fmt::format("{:<6} {} samples of {} {}, {}\n", part, data.size(),
                                to_string(data.sample_shape), to_string(data.sample_dtype),
                                bytes_text(data.bytes.size() + data.floats.size() * sizeof(float)));
  const std::vector<std::int64_t> counts = samples_by_class(data);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    out += fmt::format("  {:>4}  {:<20} {:>8}\n", i, data.class_names[i], counts[i]);
  }
  return out;
}

int info(const DataOptions& options) {
  const LoadedData data = load_data(options.path, 0);
  if (!data.note.empty()) fmt::print(stderr, "linnet: {}\n", data.note);
  if (options.json) {
    print_json({{"path", options.path},
                {"train", part_json(data.parts.train)},
                {"test", part_json(data.parts.test)}});
  } else {
    print_out(part_text("train", data.parts.train) + part_text("test", data.parts.test));
  }
  return kSuccess;
}

}  // namespace

void add_data(CLI::App& app, Action& action) {
  auto options = std::make_shared<DataOptions>();
  CLI::App* command = app.add_subcommand("data", "Looks into data sets");
  command->require_subcommand(1);
  command->footer("Example: linnet data info path/to/mnist");
  CLI::App* info_command = command->add_subcommand("info", "What lies in a folder of data");
  info_command
      ->add_option("PATH", options->path,
                   "A folder of IDX files, CIFAR batches or images, or a name")
      ->required();
  info_command->add_flag("--json", options->json, "Print one JSON object");
  info_command->footer("Example: linnet data info path/to/mnist --json");
  info_command->callback([&action, options] { action = [options] { return info(*options); }; });
}

}  // namespace linnet::command
