// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/inspect.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "commands/commands.h"
#include "config/device.h"
#include "config/options.h"
#include "config/workloads.h"
#include "report/json.h"
#include "report/machine.h"
#include "report/memory.h"

namespace linnet::command {
namespace {

struct MaxBatchArguments {
  std::string config;
  std::string workload;
  std::size_t memory_limit = 0;
  std::string mode = "train";
  std::vector<std::string> allow;
  DeviceOptions on;
  bool json = false;

  bool allows(const std::string& what) const {
    return std::find(allow.begin(), allow.end(), what) != allow.end();
  }
};

int max_batch(const MaxBatchArguments& arguments) {
  const Job job = job_from(arguments.config, arguments.workload, "linnet max-batch");
  const MaxBatchOptions limit{.memory_limit = arguments.memory_limit,
                              .training = arguments.mode == "train",
                              .shards = arguments.allows("shards"),
                              .stream = arguments.allows("stream")};
  const MaxBatch found =
      linnet::max_batch(job.network, limit, job.training, planned_on(arguments.on, job.model));
  require(found.batch > 0, "not even a batch of 1 fits into {} bytes: it needs {}",
          arguments.memory_limit, found.memory.total());
  if (arguments.json) {
    Json json;
    json["name"] = job.name;
    json["mode"] = arguments.mode;
    json["memory_limit"] = arguments.memory_limit;
    json["batch"] = found.batch;
    json["unbounded"] = found.unbounded;
    json["planned_bytes"] = found.memory.total();
    json["memory"] = memory_json(found.memory);
    print_json(json);
    return kSuccess;
  }
  print_out(
      fmt::format("{}, {}: a batch of {}{}{} within {}\n{}", job.name, arguments.mode, found.batch,
                  found.unbounded ? " or more" : "",
                  found.memory.shards > 1 ? fmt::format(" in {} shards", found.memory.shards) : "",
                  bytes_text(arguments.memory_limit),
                  memory_text({{arguments.mode, found.memory}})));
  return kSuccess;
}

}  // namespace

void add_max_batch(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<MaxBatchArguments>();
  CLI::App* command =
      app.add_subcommand("max-batch",
                         "Prints the largest batch that fits into some memory, by planning alone");
  command->add_option("CONFIG", arguments->config, "Configuration file (TOML), or a workload");
  command->add_option("--workload", arguments->workload, "A built-in training, e.g. mnist-cnn");
  command
      ->add_option("--memory-limit", arguments->memory_limit,
                   "Bytes that may be needed, e.g. 1GiB or 512MiB")
      ->transform(CLI::AsSizeValue(false))
      ->required();
  command->add_option("--mode", arguments->mode, "train or infer")
      ->check(one_of({"train", "infer"}));
  command
      ->add_option("--allow", arguments->allow,
                   "shards: compute a batch in parts; stream: do not hold all its samples at once; "
                   "or both, as shards,stream")
      ->delimiter(',')
      ->check(one_of({"shards", "stream"}));
  add_device_options(*command, arguments->on);
  command->add_flag("--json", arguments->json, "Print one JSON object");
  command->footer("Example: linnet max-batch --workload rosenbrock-mlp --memory-limit 1GiB");
  command->callback(
      [&action, arguments] { action = [arguments] { return max_batch(*arguments); }; });
}

}  // namespace linnet::command
