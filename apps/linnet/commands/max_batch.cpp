// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/inspect.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes_text.h"
#include "base/check.h"
#include "commands/commands.h"
#include "commands/measure_memory.h"
#include "config/device.h"
#include "config/options.h"
#include "config/workloads.h"
#include "report/json.h"
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
  GivenOptions given;
  bool verify = false;
  std::int64_t measure = 0;  ///< a batch to run in this process; 0: none
  std::int64_t shards = 1;   ///< of that batch
  bool json = false;

  bool allows(const std::string& what) const {
    return std::find(allow.begin(), allow.end(), what) != allow.end();
  }
};

/// Returns the bytes that a batch needs, measured in a process of its own.
std::size_t measured_bytes(const MaxBatchArguments& arguments, const MaxBatch& found) {
  std::vector<std::string> words{"max-batch", "--memory-limit",
                                 std::to_string(arguments.memory_limit), "--mode", arguments.mode};
  if (!arguments.config.empty()) words.push_back(arguments.config);
  if (!arguments.workload.empty()) {
    words.insert(words.end(), {"--workload", arguments.workload});
  }
  words.insert(words.end(), {"--measure", std::to_string(found.batch), "--shards",
                             std::to_string(found.memory.shards)});
  if (found.memory.recompute) words.insert(words.end(), {"--allow", "recompute"});
  return std::stoull(run_again(words));
}

Json record(const Job& job, const MaxBatchArguments& arguments, const MaxBatch& found) {
  Json json;
  json["name"] = job.name;
  json["mode"] = arguments.mode;
  json["memory_limit"] = arguments.memory_limit;
  json["batch"] = found.batch;
  json["unbounded"] = found.unbounded;
  json["planned_bytes"] = found.memory.total();
  json["memory"] = memory_json(found.memory);
  return json;
}

std::string text(const Job& job, const MaxBatchArguments& arguments, const MaxBatch& found) {
  const std::string parts =
      found.memory.shards > 1 ? fmt::format(" ({} shards)", found.memory.shards) : "";
  return fmt::format("{}, {}: largest batch within {}: {}{}{}\n{}", job.name, arguments.mode,
                     bytes_text(arguments.memory_limit), found.batch,
                     found.unbounded ? " or more" : "", parts,
                     memory_text({{arguments.mode, found.memory}}));
}

int max_batch(const MaxBatchArguments& arguments) {
  const Job job = job_from(arguments.config, arguments.workload, "linnet max-batch");
  const bool training = arguments.mode == "train";
  if (arguments.measure > 0) {
    print_out(fmt::format("{}\n", measure_memory(job, training, arguments.measure,
                                                 {.shards = arguments.shards,
                                                  .recompute = arguments.allows("recompute")})));
    return kSuccess;
  }
  require(!arguments.verify ||
              (!arguments.allows("stream") && arguments.on.device().value_or("cpu") == "cpu"),
          "--verify holds the batch in memory, on the CPU: expected neither --allow stream nor "
          "another device");
  require(training || (!arguments.allows("recompute") && !arguments.allows("shards")),
          "--allow recompute and shards are for --mode train; leave them out");
  const MaxBatchOptions limit{.memory_limit = arguments.memory_limit,
                              .training = training,
                              .recompute = arguments.allows("recompute"),
                              .shards = arguments.allows("shards"),
                              .stream = arguments.allows("stream")};
  const ModelOptions on = planned_on(arguments.on, job.model);
  check_used(arguments.given, on);
  const MaxBatch found = linnet::max_batch(job.network, limit, job.training, on);
  require(found.batch > 0, "not even a batch of 1 fits into {} bytes: it needs {}",
          arguments.memory_limit, found.memory.total());
  const std::size_t measured = arguments.verify ? measured_bytes(arguments, found) : 0;
  if (arguments.json) {
    Json json = record(job, arguments, found);
    if (arguments.verify) json["measured_bytes"] = measured;
    print_json(json);
    return kSuccess;
  }
  print_out(text(job, arguments, found));
  if (arguments.verify) {
    print_out(
        fmt::format("measured      {} ({} bytes) in a fresh process, {:.3f} of the plan\n",
                    bytes_text(measured), measured,
                    static_cast<double>(measured) / static_cast<double>(found.memory.total())));
  }
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
      ->transform(byte_count(1))
      ->required();
  command->add_option("--mode", arguments->mode, "train or infer")
      ->check(one_of({"train", "infer"}));
  command
      ->add_option(
          "--allow", arguments->allow,
          "What may be done for a larger one, e.g. recompute,shards. recompute: compute "
          "some values twice; shards: compute a batch in parts; stream: do not hold all its "
          "samples at once")
      ->delimiter(',')
      ->check(one_of({"recompute", "shards", "stream"}));
  command->add_flag("--verify", arguments->verify,
                    "Run a step of that batch in a fresh process and print the memory that it "
                    "took; not with --allow stream");
  command->add_option("--measure", arguments->measure)->group("");  // of that process
  command->add_option("--shards", arguments->shards)->group("");
  add_device_options(*command, arguments->on);
  command->add_flag("--json", arguments->json, "Print one JSON object");
  set_most_used(*command, {"--memory-limit", "--workload", "--mode", "--device", "--json"});
  command->footer("Example: linnet max-batch --workload rosenbrock-mlp --memory-limit 1GiB");
  act(*command, arguments, action, max_batch);
}

}  // namespace linnet::command
