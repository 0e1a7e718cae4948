// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "backend/plugin/cuda_plugin.h"
#include "base/check.h"
#include "commands/commands.h"
#include "commands/plan_gpu.h"
#include "config/device.h"
#include "config/options.h"
#include "config/workloads.h"
#include "model/model_state.h"
#include "plan/plan.h"
#include "report/json.h"
#include "train/memory_plan.h"

namespace linnet::command {
namespace {

struct PlanOptions {
  GivenOptions given;
  std::string config;
  std::string workload;
  std::int64_t batch = 0;
  std::string mode;
  std::string dump;
  std::string target;
  bool json = false;
  DeviceOptions on;
};

int print(const std::string& text) {
  print_out(text);
  return kSuccess;
}

int plan(const PlanOptions& options) {
  Job job = job_from(options.config, options.workload, "linnet plan");
  if (options.batch > 0) job.training.batch = options.batch;
  const bool infer = infers(job, options.mode);
  const ModelOptions on = planned_on(options.on, job.model);
  check_used(options.given, on);
  if (!options.dump.empty()) {
    options.given.refuse({"--json"}, "the counts of --target", "--dump prints text");
  }
  const bool described = !options.target.empty();
  require(!described || on.device == "cuda",
          "--target plans for a GPU that need not be there: expected --device cuda; got {}",
          on.device);
  require(described || !options.json, "--json needs --target, e.g. --target sm_90");
  const auto backend = described
                           ? cuda_plugin(on.cuda.library)
                                 .describe(described_gpu(options.target), on.cuda, on.precision)
                           : open_backend(on);
  const NetworkDefinition network =
      laid_out_for(job.network.definition(), backend->capabilities().f64);
  const std::int64_t batch = job.training.batch;
  Graph graph = infer ? prediction_graph(network, batch, *backend)
                      : training_graph(network, batch, job.training, *backend);
  if (options.dump == "graph") return print(dump(graph));
  const auto program = backend->prepare(std::move(graph), {.fixed_weights = infer});
  if (!described || options.dump == "plan") return print(dump(program->plan()));
  print_gpu_counts({job, on, options.target, infer,
                    count_step(program->plan(), *program->launches())},
                   options.json);
  return kSuccess;
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command =
      app.add_subcommand("plan", "Prints the compiled training step, or prediction");
  command->add_option("CONFIG", options->config, "Configuration file (TOML), or a workload");
  command->add_option("--workload", options->workload, "A built-in training, e.g. mnist-cnn");
  command->add_option("--batch", options->batch, "Samples in a batch")->check(at_least(1));
  command
      ->add_option("--mode", options->mode,
                   "train: a training step; infer: the prediction of a batch")
      ->check(one_of({"train", "infer"}));
  command
      ->add_option("--dump", options->dump,
                   "graph: the operators; plan (the default without --target): also their memory")
      ->check(one_of({"graph", "plan"}));
  command->add_option("--target", options->target,
                      "Counts a step on a GPU that need not be there, with --device cuda: sm_90");
  command->add_flag("--json", options->json, "Print the counts of --target as JSON");
  add_device_options(*command, options->on);
  set_most_used(*command, {"--workload", "--batch", "--mode", "--device", "--json"});
  command->footer("Example: linnet plan --workload mnist-cnn --batch 128 --dump plan");
  act(*command, options, action, plan);
}

}  // namespace linnet::command
