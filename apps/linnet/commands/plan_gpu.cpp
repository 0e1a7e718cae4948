// SPDX-License-Identifier: Apache-2.0
#include "commands/plan_gpu.h"

#include <fmt/format.h>

#include <array>

#include "base/check.h"
#include "config/device.h"
#include "report/json.h"

namespace linnet::command {
namespace {

/// What cannot be decided without the device.
constexpr std::array kAssumptions{
    "A library call counts as one node; on the device it may be several.",
    "cuDNN has an engine for each convolution that it is asked for, and cuBLASLt one for each "
    "product.",
    "Where a trial on the device would choose (cuDNN's RNN), Linnet's own kernels "
    "compute.",
    "The libraries' workspaces are not known and not part of the planned memory.",
};

const std::string& precision_of(const PlannedForGpu& planned) {
  return name_of(planned.on.precision);
}

Json to_json(const PlannedForGpu& planned) {
  const StepCounts& counts = planned.counts;
  Json json;
  json["workload"] = planned.job.name;
  json["mode"] = planned.infer ? "infer" : "train";
  json["batch"] = planned.job.training.batch;
  json["device"] = "cuda";
  json["target"] = planned.target;
  json["precision"] = precision_of(planned);
  json["operators"] = counts.operators;
  json["nodes_per_step"] = counts.nodes();
  json["own_kernels"] = counts.own_kernels;
  json["library_calls"] = counts.library_calls;
  json["bytes"] = counts.bytes;
  json["flops"] = counts.flops;
  json["planned_memory"] = counts.planned_bytes;
  json["critical_path"] = counts.captured;
  json["data_path"] = counts.data;
  json["assumptions"] = kAssumptions;
  return json;
}

std::string to_text(const PlannedForGpu& planned) {
  const StepCounts& counts = planned.counts;
  std::string calls;
  for (const auto& [library, count] : counts.library_calls) {
    calls += fmt::format("{}{} {}", calls.empty() ? " (" : ", ", library, count);
  }
  if (!calls.empty()) calls += ")";
  std::string text = fmt::format("{}: a {} at batch {} on {}, precision {}\n", planned.job.name,
                                 planned.infer ? "prediction" : "training step",
                                 planned.job.training.batch, planned.target, precision_of(planned));
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<24}{}\n", name, value);
  };
  line("nodes per step", fmt::format("{}", counts.nodes()));
  line("  own kernels", fmt::format("{}", counts.own_kernels));
  line("  library calls", fmt::format("{}{}", counts.calls(), calls));
  line("operators", fmt::format("{}", counts.operators));
  line("bytes read and written", fmt::format("{:.1f} MB", 1e-6 * counts.bytes));
  line("FLOP", fmt::format("{:.2f} G", 1e-9 * counts.flops));
  line("planned memory",
       fmt::format("{:.1f} MiB", static_cast<double>(counts.planned_bytes) / (1 << 20)));
  line("critical path", fmt::format("{} nodes", counts.captured));
  line("  by data alone", fmt::format("{} nodes", counts.data));
  for (std::string_view assumption : kAssumptions) text += fmt::format("- {}\n", assumption);
  return text;
}

}  // namespace

CudaDevice described_gpu(const std::string& target) {
  require(target == "sm_90", "no GPU of target '{}' is described; expected sm_90", target);
  // An H100's and an H200's number.
  return {.index = 0,
          .name = target,
          .uuid = {},
          .compute_capability = 90,
          .multiprocessors = 132,
          .memory_bytes = 0};
}

void print_gpu_counts(const PlannedForGpu& planned, bool json) {
  json ? print_json(to_json(planned)) : print_out(to_text(planned));
}

}  // namespace linnet::command
