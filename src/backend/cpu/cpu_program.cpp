// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/cpu_program.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "backend/cpu/memory.h"
#include "base/check.h"
#include "plan/offsets.h"

namespace linnet::cpu {
namespace {

template <class T>
void fill(std::byte* to, std::int64_t count, double value) {
  std::fill_n(reinterpret_cast<T*>(to), count, static_cast<T>(value));
}

void fill_constant(std::byte* to, const ValueInfo& info) {
  const std::int64_t count = info.type.shape.elements();
  switch (info.type.dtype) {
    case DType::f32: return fill<float>(to, count, info.fill);
    case DType::f64: return fill<double>(to, count, info.fill);
    case DType::i32: return fill<std::int32_t>(to, count, info.fill);
    case DType::u8: return fill<std::uint8_t>(to, count, info.fill);
    case DType::bf16: break;
  }
  fail("constants of type {} are not supported", to_string(info.type.dtype));
}

}  // namespace

/// `steps` repetitions of the program's stages.
class CpuProgram::Run final : public StagedWork {
 public:
  Run(const CpuProgram& program, const StepInfo& first, std::uint64_t steps, std::uint64_t stride)
      : program_(program), first_(first), steps_(steps), stride_(stride) {}

  std::uint64_t stages() const override { return steps_ * program_.stages_.size(); }
  std::uint32_t tasks(std::uint64_t stage) const override {
    return static_cast<std::uint32_t>(bound(stage).stage->tasks);
  }
  void run(std::uint64_t stage, std::uint32_t task, int thread) override {
    const std::uint64_t repetition = stage / program_.stages_.size();
    StepInfo step = first_;
    step.step += repetition;
    step.position += repetition * stride_;
    const BoundStage& s = bound(stage);
    s.stage->run(program_.nodes_[s.node].args,
                 {static_cast<int>(task), program_.scratch(thread), &step});
  }

 private:
  const BoundStage& bound(std::uint64_t stage) const {
    return program_.stages_[stage % program_.stages_.size()];
  }

  const CpuProgram& program_;
  StepInfo first_;
  std::uint64_t steps_;
  std::uint64_t stride_;
};

CpuProgram::CpuProgram(Plan plan, std::vector<Kernel> kernels, std::shared_ptr<ThreadTeam> team)
    : plan_(std::move(plan)), kernels_(std::move(kernels)), team_(std::move(team)) {
  for (std::size_t n = 0; n < kernels_.size(); ++n) {
    if (!plan_.runs(n)) continue;
    scratch_stride_ = std::max(scratch_stride_, align_up(kernels_[n].scratch_bytes));
    for (const Stage& stage : kernels_[n].stages) stages_.push_back({n, &stage});
  }
  scratch_ = allocate(scratch_stride_ * static_cast<std::size_t>(team_->threads()));
  constants_ = allocate(plan_.bytes[static_cast<std::size_t>(Storage::constant)]);
  for (std::size_t id = 0; id < plan_.values.size(); ++id) {
    const ValueInfo& info = plan_.graph.info(Value{static_cast<int>(id)});
    if (info.storage != Storage::constant) continue;
    fill_constant(constants_->data() + plan_.values[id].offset, info);
  }
}

std::byte* CpuProgram::scratch(int thread) const {
  return scratch_->data() + scratch_stride_ * static_cast<std::size_t>(thread);
}

void* CpuProgram::address(const Memory& memory, Value value) const {
  const Placement& place = plan_.values[static_cast<std::size_t>(value.id)];
  if (place.storage == Storage::external) return nullptr;
  if (place.storage == Storage::constant) return constants_->data() + place.offset;
  Buffer* buffer = memory[place.storage];
  LINNET_ASSERT(buffer != nullptr && place.offset + place.bytes <= buffer->bytes());
  return buffer->data() + place.offset;
}

void CpuProgram::attach(const Memory& memory) {
  const std::vector<Node>& nodes = plan_.graph.nodes();
  nodes_.assign(nodes.size(), {});
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    BoundNode& bound = nodes_[n];
    for (Value v : nodes[n].inputs) bound.inputs.push_back(address(memory, v));
    for (Value v : nodes[n].outputs) bound.outputs.push_back(address(memory, v));
    std::byte* workspace = nullptr;
    if (plan_.workspaces[n].bytes > 0) {
      workspace = memory[Storage::arena]->data() + plan_.workspaces[n].offset;
    }
    bound.args = {bound.inputs, bound.outputs, workspace};
  }
}

void CpuProgram::bind(std::size_t slot, const void* address) {
  LINNET_ASSERT(!nodes_.empty() || plan_.graph.nodes().empty());
  const auto set = [&](const std::vector<Value>& values, std::vector<void*>& addresses) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Placement& place = plan_.values[static_cast<std::size_t>(values[i].id)];
      if (place.storage == Storage::external && place.offset == slot) {
        addresses[i] = const_cast<void*>(address);
      }
    }
  };
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    set(plan_.graph.nodes()[n].inputs, nodes_[n].inputs);
    set(plan_.graph.nodes()[n].outputs, nodes_[n].outputs);
  }
}

void CpuProgram::require_bound() const {
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (!plan_.runs(n)) continue;
    for (std::size_t i = 0; i < nodes_[n].inputs.size(); ++i) {
      const Node& node = plan_.graph.nodes()[n];
      require(nodes_[n].inputs[i] != nullptr || plan_.graph.type(node.inputs[i]).bytes() == 0,
              "[{} '{}'] input '{}' is bound to no memory", node.op->name(), node.name,
              plan_.graph.info(node.inputs[i]).name);
    }
  }
}

void CpuProgram::run(const StepInfo& first, std::uint64_t steps, std::uint64_t stride) {
  LINNET_ASSERT(nodes_.size() == plan_.graph.nodes().size());
  require_bound();
  if (stages_.empty()) return;
  Run work(*this, first, steps, stride);
  team_->run(work);
}

void CpuProgram::poison_outputs(const Node& node, const BoundNode& bound) const {
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const Placement& place = plan_.values[static_cast<std::size_t>(node.outputs[i].id)];
    if (place.root == node.outputs[i].id && place.bytes > 0) {
      std::memset(bound.outputs[i], 0xFF, place.bytes);
    }
  }
}

void CpuProgram::check_outputs(const Node& node, const BoundNode& bound) const {
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueType& type = plan_.graph.type(node.outputs[i]);
    if (type.dtype != DType::f32) continue;
    if (plan_.graph.uses(node.outputs[i]) == 0 &&
        plan_.graph.info(node.outputs[i]).storage == Storage::arena) {
      continue;  // dead: the kernel may leave it out
    }
    const auto* data = static_cast<const float*>(bound.outputs[i]);
    for (std::int64_t k = 0; k < type.shape.elements(); ++k) {
      if (std::isnan(data[k])) {
        throw InternalError(
            fmt::format("[{} '{}'] left element {} of output {} {} unwritten or NaN",
                        node.op->name(), node.name, k, i, to_string(type)));
      }
    }
  }
}

void CpuProgram::run_checked(const StepInfo& step) {
  require_bound();
  verify_plan(plan_);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (!plan_.runs(n)) continue;
    const Node& node = plan_.graph.nodes()[n];
    poison_outputs(node, nodes_[n]);
    if (plan_.workspaces[n].bytes > 0) {
      std::memset(nodes_[n].args.workspace, 0xFF, plan_.workspaces[n].bytes);
    }
    for (const Stage& stage : kernels_[n].stages) {
      for (int task = 0; task < stage.tasks; ++task) {
        if (scratch_stride_ > 0) std::memset(scratch(0), 0xFF, scratch_stride_);
        stage.run(nodes_[n].args, {task, scratch(0), &step});
      }
    }
    check_outputs(node, nodes_[n]);
  }
}

}  // namespace linnet::cpu
