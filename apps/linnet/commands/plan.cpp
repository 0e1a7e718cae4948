// SPDX-License-Identifier: Apache-2.0
#include <linnet/inspect.h>

#include <memory>

#include "base/check.h"
#include "commands/commands.h"
#include "commands/plan_gpu.h"
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
  std::string dump;
  std::string target;
  std::string gpu;
  bool json = false;
  DeviceOptions on;
};

int plan(const PlanOptions& options) {
  Job job = job_from(options.config, options.workload, "linnet plan");
  if (options.batch > 0) job.training.batch = options.batch;
  const ModelOptions on = planned_on(options.on, job.model);
  if (!options.target.empty()) {
    require(on.device == "cuda",
            "--target plans for a GPU that need not be there: expected --device cuda; got {}",
            on.device);
    print_gpu_plan(job, on, {options.target, options.gpu, options.dump, options.json});
    return kSuccess;
  }
  require(options.gpu.empty() && !options.json,
          "--gpu and --json need --target, e.g. --target sm_90");
  const Dump what = options.dump == "graph" ? Dump::graph : Dump::plan;
  std::string text = dump_training_step(job.network, job.training.batch, what, job.training, on);
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
  command
      ->add_option("--dump", options->dump,
                   "graph: the operators; plan (the default without --target): also their memory")
      ->check(one_of({"graph", "plan"}));
  command->add_option("--target", options->target,
                      "Counts a step on a GPU that need not be there, with --device cuda: sm_90");
  command->add_option("--gpu", options->gpu, "The GPU of --target: h200 (the default) or h100");
  command->add_flag("--json", options->json, "Print the counts of --target as JSON");
  add_device_options(*command, options->on);
  command->footer("Example: linnet plan --workload mnist-cnn --batch 128 --dump plan");
  command->callback([&action, options] { action = [options] { return plan(*options); }; });
}

}  // namespace linnet::command
