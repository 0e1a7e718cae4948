// SPDX-License-Identifier: Apache-2.0
#include <linnet/inspect.h>

#include <memory>

#include "commands/commands.h"
#include "config/device.h"
#include "config/options.h"
#include "config/workloads.h"
#include "report/json.h"

namespace linnet::command {
namespace {

struct PlanOptions {
  std::string config;
  std::string workload;
  std::int64_t batch = 0;
  std::string dump = "plan";
  DeviceOptions on;
};

int plan(const PlanOptions& options) {
  Job job = job_from(options.config, options.workload, "linnet plan");
  if (options.batch > 0) job.training.batch = options.batch;
  const Dump what = options.dump == "graph" ? Dump::graph : Dump::plan;
  std::string text = dump_training_step(job.network, job.training.batch, what, job.training,
                                        planned_on(options.on, job.model));
  if (text.empty() || text.back() != '\n') text += '\n';
  print_out(text);
  return kSuccess;
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app.add_subcommand("plan", "Prints the compiled training step");
  command->add_option("CONFIG", options->config, "Configuration file (TOML), or a workload");
  command->add_option("--workload", options->workload, "A built-in training, e.g. mnist-cnn");
  command->add_option("--batch", options->batch, "Samples in a batch")->check(at_least(1));
  command->add_option("--dump", options->dump, "graph: the operators; plan: also their memory")
      ->check(one_of({"graph", "plan"}));
  add_device_options(*command, options->on);
  command->footer("Example: linnet plan --workload mnist-cnn --batch 128 --dump plan");
  command->callback([&action, options] { action = [options] { return plan(*options); }; });
}

}  // namespace linnet::command
