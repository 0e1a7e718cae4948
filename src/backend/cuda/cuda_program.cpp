// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cuda_program.h"

#include <algorithm>
#include <utility>

#include "backend/cuda/nvtx.h"
#include "backend/cuda/workspace.h"
#include "base/check.h"
#include "runtime/constants.h"
#include "runtime/node_times.h"

namespace linnet::cuda {
namespace {

/// Steps of a round of the loop: so many that a round has kNodesOfRound nodes, beside which the
/// decision whether it goes on is little, but no more than kStepsOfRound.
constexpr std::size_t kStepsOfRound = 8;
constexpr std::size_t kNodesOfRound = 512;

std::uint64_t steps_of_round(const StepLaunches& launches) {
  const std::size_t nodes = std::max<std::size_t>(launches.count(), 1);
  return std::clamp<std::size_t>(kNodesOfRound / nodes, 1, kStepsOfRound);
}

std::vector<Event> timing_events(std::size_t count) {
  std::vector<Event> events;
  for (std::size_t i = 0; i < count; ++i) events.push_back(make_event());
  return events;
}

double seconds_between(const Event& start, const Event& end) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start.get(), end.get()), "reading an event's time");
  return 1e-3 * static_cast<double>(milliseconds);
}

}  // namespace

CudaProgram::CudaProgram(PlannedKernels planned, std::shared_ptr<const Device> device,
                         std::int64_t graph_steps, bool graph_required)
    : plan_(std::move(planned.plan)),
      launches_(std::move(planned.launches)),
      device_(std::move(device)),
      kernels_(std::move(planned.kernels)),
      graph_steps_(graph_steps),
      graph_required_(graph_required) {
  const std::vector<std::byte> constants = constant_bytes(plan_);
  constants_ = allocate(device_, constants.size());
  upload(*device_, constants_->data(), constants);
  state_ = allocate(device_, sizeof(ProgramState));
  std::size_t packed = 0;
  for (const Kernel& kernel : kernels_) packed += library_padded(kernel.packed_bytes);
  packed_ = allocate(device_, packed);
  for (std::size_t n = 0; n < kernels_.size(); ++n) {
    if (plan_.runs(n)) last_ = n;
  }
  ends_itself_ = ends_itself(plan_, kernels_);
  if (plan_.branches.side.empty()) return;
  forked_ = make_event(cudaEventDisableTiming);
  ended_.resize(kernels_.size());
  for (std::size_t n = 0; n < kernels_.size(); ++n) {
    if (plan_.branches.is_side(n)) ended_[n] = make_event(cudaEventDisableTiming);
  }
}

CudaProgram::~CudaProgram() {
  static_cast<void>(cudaSetDevice(device_->info().index));
  static_cast<void>(cudaStreamSynchronize(device_->stream()));
}

void CudaProgram::forget_graphs() {
  loop_graph_ = {};
  steps_graph_ = {};
  single_graph_ = {};
  setting_ = std::make_shared<int>();
}

void CudaProgram::attach(const Memory& memory) {
  operands_.attach(plan_, memory, constants_->data());
  args_.clear();
  std::byte* packed = packed_->data();
  for (std::size_t n = 0; n < plan_.graph.nodes().size(); ++n) {
    const Operands::NodeOperands& node = operands_[n];
    args_.push_back({.inputs = node.inputs,
                     .outputs = node.outputs,
                     .workspace = node.workspace,
                     .packed = packed,
                     .step = &state()->step,
                     .stream = device_->stream(),
                     .tickets = program_state()->tickets});
    packed += library_padded(kernels_[n].packed_bytes);
  }
  is_packed_ = false;
  forget_graphs();
}

void CudaProgram::bind(std::size_t slot, const void* address) {
  if (operands_.bind(plan_, slot, address)) forget_graphs();
}

void CudaProgram::enqueue(const Args& args, std::size_t n) const {
  try {
    kernels_[n].enqueue(args);
  } catch (const Error& error) {
    const Node& node = plan_.graph.nodes()[n];
    fail_again<DeviceError>(error, "[{} '{}'] {} {}", node.op->name(), node.name,
                            to_string({}, plan_.graph.types(node.inputs)), error.what());
  }
}

void CudaProgram::enqueue_step(const StepEnd& end) const {
  const Branches& branches = plan_.branches;
  cudaStream_t main = device_->stream();
  cudaStream_t side = device_->side_stream();
  const auto follow = [](cudaStream_t stream, const Event& event) {
    check(cudaStreamWaitEvent(stream, event.get(), 0), "waiting for a branch");
  };
  const auto mark = [](const Event& event, cudaStream_t stream) {
    check(cudaEventRecord(event.get(), stream), "marking where branches meet");
  };
  bool forked = false;  // the side branch waits for all of the main one so far
  std::size_t unjoined = Branches::kNobody;
  for (std::size_t n = 0; n < kernels_.size(); ++n) {
    if (const std::size_t awaited = branches.awaited_by(n); awaited != Branches::kNobody) {
      follow(main, ended_[awaited]);
      if (awaited == unjoined) unjoined = Branches::kNobody;
    }
    if (!plan_.runs(n)) continue;
    Args args = args_[n];
    if (!branches.is_side(n)) {
      if (n == last_ && ends_itself_) args.end = end;
      enqueue(args, n);
      forked = false;
      continue;
    }
    if (!forked) {
      mark(forked_, main);
      follow(side, forked_);
      forked = true;
    }
    args.stream = side;
    args.tickets = program_state()->side_tickets;
    enqueue(args, n);
    mark(ended_[n], side);
    unjoined = n;
  }
  if (unjoined != Branches::kNobody) follow(main, ended_[unjoined]);
  if (!ends_itself_ && end.loop != nullptr) advance_loop(main, end);
}

void CudaProgram::make_ready() {
  LINNET_ASSERT(operands_.attached());
  operands_.require_bound(plan_);
  pack_changed();
}

void CudaProgram::enqueue_step(const StepList& steps, bool repack) const {
  if (repack) pack();
  take_step(device_->stream(), state(), steps);
  enqueue_step(StepEnd{});
}

void CudaProgram::pack() const {
  for (std::size_t n = 0; n < kernels_.size(); ++n) {
    if (kernels_[n].pack) kernels_[n].pack(args_[n]);
  }
}

void CudaProgram::fall_back(const std::string& problem, const std::string& instead) {
  require(!graph_required_,
          "{}, but --graph (CudaOptions::graph_required) needs it; without it: {}", problem,
          instead);
  note(fmt::format("{}: {}", problem, instead));
}

CapturedGraph CudaProgram::capture_loops() const {
  const std::uint64_t round = steps_of_round(launches_);
  const std::size_t loops = round > 1 ? 2 : 1;
  return CapturedGraph::loops(
      device_->stream(), loops,
      [&](CapturedGraph::Conditions conditions) {
        decide_rounds(device_->stream(), state(),
                      {.whole = conditions.front(),
                       .single = conditions.back(),
                       .steps = loops > 1 ? round : 0});
      },
      [&](std::size_t loop, cudaGraphConditionalHandle condition) {
        const std::uint64_t steps = loop + 1 < loops ? round : 1;
        for (std::uint64_t i = 1; i < steps; ++i) enqueue_step({.loop = state()});
        enqueue_step({.loop = state(), .condition = condition, .steps = steps});
      });
}

void CudaProgram::capture(std::uint64_t steps) {
  cudaStream_t stream = device_->stream();
  const auto one = [&] { enqueue_step({.loop = state()}); };
  if (graph_steps_ == CudaOptions::kWholeEpoch && steps > 1 && !loop_graph_) {
    std::string problem;
    try {
      loop_graph_ = capture_loops();
    } catch (const Error& error) {
      problem = error.what();
    }
    if (!loop_graph_) {
      fall_back(fmt::format("the device cannot loop over steps ({})", problem),
                fmt::format("{} steps a launch instead", kStepsWithoutLoop));
      graph_steps_ = kStepsWithoutLoop;
    }
  }
  const bool single = graph_steps_ > 0 || (graph_steps_ == CudaOptions::kWholeEpoch && steps == 1);
  try {
    if (graph_steps_ > 1 && steps >= static_cast<std::uint64_t>(graph_steps_) && !steps_graph_) {
      steps_graph_ = CapturedGraph::capture(stream, [&] {
        for (std::int64_t i = 0; i < graph_steps_; ++i) one();
      });
    }
    if (single && !single_graph_) single_graph_ = CapturedGraph::capture(stream, one);
  } catch (const Error& error) {
    fall_back(fmt::format("steps cannot be captured in a graph ({})", error.what()),
              "kernels are launched one by one");
    graph_steps_ = 0;
    forget_graphs();
  }
}

void CudaProgram::run(const StepInfo& first, std::uint64_t steps, std::uint64_t stride) {
  LINNET_ASSERT(operands_.attached());
  operands_.require_bound(plan_);
  if (steps == 0) return;
  device_->activate();
  cudaStream_t stream = device_->stream();
  capture(steps);
  pack_changed();
  start_loop(stream, state(), {first, stride, steps});
  if (steps > 1 && loop_graph_) return loop_graph_.launch(stream);
  if (steps_graph_) {
    for (; steps >= static_cast<std::uint64_t>(graph_steps_);
         steps -= static_cast<std::uint64_t>(graph_steps_)) {
      steps_graph_.launch(stream);
    }
  }
  for (; steps > 0; --steps) {
    if (single_graph_) {
      single_graph_.launch(stream);
    } else {
      enqueue_step({.loop = state()});
    }
  }
}

void CudaProgram::poison(std::size_t n) const {
  const Node& node = plan_.graph.nodes()[n];
  const auto fill = [&](void* data, std::size_t bytes) {
    if (bytes > 0) check(cudaMemsetAsync(data, 0xFF, bytes, device_->stream()), "poisoning memory");
  };
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const Placement& place = plan_.values[static_cast<std::size_t>(node.outputs[i].id)];
    if (place.root == node.outputs[i].id) fill(operands_[n].outputs[i], place.bytes);
  }
  if (operands_[n].workspace != nullptr) fill(operands_[n].workspace, plan_.workspaces[n].bytes);
}

void CudaProgram::run_checked(const StepInfo& step) {
  operands_.require_bound(plan_);
  verify_plan(plan_);
  device_->activate();
  pack_changed();
  start_loop(device_->stream(), state(), {step, 0, 1});
  for (std::size_t n = 0; n < kernels_.size(); ++n) {
    if (!plan_.runs(n)) continue;
    poison(n);
    enqueue(n);
    std::vector<std::byte> data;
    check_outputs(plan_, n, [&](std::size_t i) {
      data.resize(plan_.graph.type(plan_.graph.nodes()[n].outputs[i]).bytes());
      download(*device_, static_cast<const std::byte*>(operands_[n].outputs[i]), data);
      return reinterpret_cast<const float*>(data.data());
    });
  }
}

std::optional<std::size_t> CudaProgram::first_not_finite(const StepInfo& step) {
  LINNET_ASSERT(operands_.attached());
  operands_.require_bound(plan_);
  device_->activate();
  pack_changed();
  start_loop(device_->stream(), state(), {step, 0, 1});
  std::vector<std::byte> data;
  for (std::size_t n = 0; n < kernels_.size(); ++n) {
    if (!plan_.runs(n)) continue;
    enqueue(n);
    const auto output = [&](std::size_t i) {
      data.resize(plan_.graph.type(plan_.graph.nodes()[n].outputs[i]).bytes());
      download(*device_, static_cast<const std::byte*>(operands_[n].outputs[i]), data);
      return reinterpret_cast<const float*>(data.data());
    };
    if (has_not_finite(plan_, n, output)) return n;
  }
  return std::nullopt;
}

void CudaProgram::enqueue_timed_step(std::span<const std::size_t> nodes,
                                     std::span<const Event> events, unsigned flags) const {
  const auto mark = [&](std::size_t i) {
    check(cudaEventRecordWithFlags(events[i].get(), device_->stream(), flags),
          "recording an event");
  };
  mark(0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = plan_.graph.nodes()[nodes[i]];
    const NvtxRange range(fmt::format("{} '{}'", node.op->name(), node.name));
    enqueue(nodes[i]);
    mark(i + 1);
  }
  advance_loop(device_->stream(), {.loop = state()});
}

std::vector<NodeTime> CudaProgram::profile(const StepInfo& first, std::uint64_t steps) {
  LINNET_ASSERT(operands_.attached() && steps > 0);
  operands_.require_bound(plan_);
  device_->activate();
  cudaStream_t stream = device_->stream();
  std::vector<std::size_t> nodes;
  for (std::size_t n = 0; n < kernels_.size(); ++n) {
    if (plan_.runs(n)) nodes.push_back(n);
  }
  const std::vector<Event> events = timing_events(nodes.size() + 1);
  CapturedGraph graph;
  if (graph_steps_ != 0) {
    try {
      // Plain: the body of a loop takes no events.
      graph = CapturedGraph::capture(stream, [&] {
        enqueue_timed_step(nodes, events, cudaEventRecordExternal);
      });
    } catch (const Error& error) {
      fall_back(fmt::format("a step with events cannot be captured in a graph ({})", error.what()),
                "kernels are timed one by one");
    }
  }
  pack_changed();
  start_loop(stream, state(), {first, 0, steps});
  NodeTimes times;
  for (; steps > 0; --steps) {
    graph ? graph.launch(stream) : enqueue_timed_step(nodes, events, cudaEventRecordDefault);
    device_->synchronize();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      times.add(nodes[i], seconds_between(events[0], events[i]),
                seconds_between(events[i], events[i + 1]));
    }
  }
  return times.medians();
}

}  // namespace linnet::cuda
