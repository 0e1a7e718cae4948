// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <memory>

#include "backend/cpu/partial_sums.h"
#include "backend/cpu/sequential_openmp.h"
#include "ops/activation/epilogue_cpu.h"
#include "ops/conv2d/engine_cpu.h"
#include "ops/conv2d/onednn_primitives_cpu.h"
#include "plan/offsets.h"

namespace linnet::cpu {
namespace {

using dnnl::memory;

void check_status(dnnl_status_t status) {
  if (status != dnnl_success) {
    throw InternalError(
        fmt::format("a oneDNN convolution returned status {}", static_cast<int>(status)));
  }
}

/// The type of a convolution's operands in memory: f32, or bf16 as std::uint16_t.
template <class T>
constexpr memory::data_type kTypeOf = memory::data_type::f32;
template <>
constexpr memory::data_type kTypeOf<std::uint16_t> = memory::data_type::bf16;

memory unbound(const memory::desc& desc, const dnnl::engine& engine) {
  return {desc, engine, nullptr};
}

/// One task's primitive with its operands: made once, given addresses at every run.
class Call {
 public:
  Call(const OneDnnConvolution& conv, const dnnl::engine& engine) : conv_(conv), stream_(engine) {}

  void operand(int name, const memory& value) { arguments_.at(count_++) = {name, value.get()}; }
  void execute() const {
    check_status(dnnl_primitive_execute(conv_.primitive.get(), stream_.get(),
                                        static_cast<int>(count_), arguments_.data()));
  }

 private:
  OneDnnConvolution conv_;
  dnnl::stream stream_;
  std::array<dnnl_exec_arg_t, 5> arguments_{};
  std::size_t count_ = 0;
};

/// The batch in blocks of equal size (the last may be smaller), a task and a primitive each.
struct Blocks {
  Blocks(const ConvShape& s, int wanted)
      : size((s.n + wanted - 1) / wanted), count(static_cast<int>((s.n + size - 1) / size)) {}
  Range samples(std::int64_t n, int index) const {
    return {index * size, std::min((index + 1) * size, n)};
  }
  std::int64_t size;
  int count;
};

/// Operands of one block of samples. Weights are shared where they are read.
struct BlockOperands {
  memory image_in;
  memory image_out;
  memory weights;
  memory bias;
  memory scratchpad;
  std::optional<Call> call;
};

/// Everything that oneDNN needs at run time. Only the addresses change; a task touches its own
/// block.
struct State {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  std::vector<BlockOperands> blocks;
  memory::desc weights;  ///< oneDNN's layout
  std::size_t scratchpad_bytes = 0;

  // Between Linnet's layout of the weights and oneDNN's.
  dnnl::reorder reorder;
  memory plain;
  memory own;
};

/// Returns a primitive for every block, or null if oneDNN does not take the shape. The layout of
/// the weights must be the same for the last, smaller block: Tag::any could choose another.
std::shared_ptr<State> make_state(ConvShape s, ConvDirection direction, const Blocks& blocks,
                                  bool bias, memory::data_type operands) {
  const SequentialOpenMp sequential;
  auto state = std::make_shared<State>();
  const std::int64_t n = s.n;
  std::optional<OneDnnConvolution> conv;
  for (int i = 0; i < blocks.count; ++i) {
    const std::int64_t size = blocks.samples(n, i).size();
    if (i == 0 || size != s.n) {
      s.n = size;
      conv = make_convolution(state->engine, direction, s, bias, operands);
      if (!conv || (i > 0 && conv->weights != state->weights)) return nullptr;
      state->weights = conv->weights;
      state->scratchpad_bytes =
          std::max(state->scratchpad_bytes, align_up(conv->scratchpad.get_size()));
    }
    BlockOperands& b = state->blocks.emplace_back();
    b.image_in = unbound(conv->image_in, state->engine);
    b.image_out = unbound(conv->image_out, state->engine);
    b.bias = unbound(conv->bias, state->engine);
    b.scratchpad = unbound(conv->scratchpad, state->engine);
    b.call.emplace(*conv, state->engine);
  }
  const auto type = direction == ConvDirection::grad_weight ? kTypeOf<float> : operands;
  state->plain = unbound(plain_weights(s, type), state->engine);
  state->own = unbound(state->weights, state->engine);
  return state;
}

/// Brings the weights into oneDNN's layout. One task, so the shared weights get their address
/// before anyone reads them.
Stage reorder_weights(const std::shared_ptr<State>& state) {
  const SequentialOpenMp at_creation;  // which fixes the number of its threads
  state->reorder = dnnl::reorder(state->plain, state->own);
  return parallel(1, [state, stream = dnnl::stream(state->engine)](const Args& args) {
    const SequentialOpenMp sequential;
    state->plain.set_data_handle(args.inputs[Conv2dOp::In::w]);
    state->own.set_data_handle(args.packed);
    const std::array<dnnl_exec_arg_t, 2> arguments{
        {{DNNL_ARG_FROM, state->plain.get()}, {DNNL_ARG_TO, state->own.get()}}};
    check_status(dnnl_primitive_execute(state->reorder.get(), stream.get(), 2, arguments.data()));
  });
}

/// Returns the beginning of forward's and grad_input's kernel.
Kernel with_packed_weights(const std::shared_ptr<State>& state) {
  Kernel kernel;
  kernel.packed_bytes = state->weights.get_size();
  kernel.packed_operands = {Conv2dOp::In::w};
  kernel.scratch_bytes = state->scratchpad_bytes;
  kernel.packing.push_back(reorder_weights(state));
  return kernel;
}

template <class T>
std::optional<Kernel> forward(const ConvShape& s, const ConvTail& tail) {
  using In = Conv2dOp::In;
  using Out = Conv2dOp::Out;
  if (s.n == 0 || !has_onednn()) return std::nullopt;
  const Blocks blocks(s, tasks_for(s.n, conv_cost(s.flops_per_sample())));
  const auto state = make_state(s, ConvDirection::forward, blocks, tail.bias, kTypeOf<T>);
  if (!state) return std::nullopt;
  for (BlockOperands& b : state->blocks) {
    b.call->operand(DNNL_ARG_SRC, b.image_in);
    b.call->operand(DNNL_ARG_WEIGHTS, state->own);
    b.call->operand(DNNL_ARG_DST, b.image_out);
    b.call->operand(DNNL_ARG_SCRATCHPAD, b.scratchpad);
    if (tail.bias) b.call->operand(DNNL_ARG_BIAS, b.bias);
  }
  Kernel kernel = with_packed_weights(state);
  kernel.stages.push_back(parallel(blocks.count, [=](const Args& args, const Task& task) {
    const SequentialOpenMp sequential;
    const Range samples = blocks.samples(s.n, task.index);
    BlockOperands& b = state->blocks[static_cast<std::size_t>(task.index)];
    float* y = args.out(Out::y) + samples.begin * s.out_pixels() * s.co;
    b.image_in.set_data_handle(const_cast<T*>(args.in<T>(In::x)) +
                               samples.begin * s.in_pixels() * s.c);
    b.image_out.set_data_handle(y);
    if (tail.bias) b.bias.set_data_handle(const_cast<float*>(args.in(In::b)));
    b.scratchpad.set_data_handle(task.scratch);
    b.call->execute();
    // Not oneDNN's own: its ReLU turns NaN into 0.
    if (tail.activation != Activation::none) {
      add_bias_and_activate(y, samples.size() * s.out_pixels(), s.co, nullptr, tail.activation);
    }
  }));
  return kernel;
}

template <class T>
std::optional<Kernel> grad_input(const ConvShape& s) {
  if (s.n == 0 || !has_onednn()) return std::nullopt;
  const Blocks blocks(s, tasks_for(s.n, conv_cost(s.flops_per_sample())));
  const auto state = make_state(s, ConvDirection::grad_input, blocks, false, kTypeOf<T>);
  if (!state) return std::nullopt;
  for (BlockOperands& b : state->blocks) {
    b.call->operand(DNNL_ARG_DIFF_SRC, b.image_in);
    b.call->operand(DNNL_ARG_WEIGHTS, state->own);
    b.call->operand(DNNL_ARG_DIFF_DST, b.image_out);
    b.call->operand(DNNL_ARG_SCRATCHPAD, b.scratchpad);
  }
  Kernel kernel = with_packed_weights(state);
  kernel.stages.push_back(parallel(blocks.count, [=](const Args& args, const Task& task) {
    const SequentialOpenMp sequential;
    const Range samples = blocks.samples(s.n, task.index);
    BlockOperands& b = state->blocks[static_cast<std::size_t>(task.index)];
    b.image_out.set_data_handle(const_cast<T*>(args.in<T>(Conv2dGradInputOp::In::dz)) +
                                samples.begin * s.out_pixels() * s.co);
    b.image_in.set_data_handle(args.out(Conv2dGradInputOp::Out::dx) +
                               samples.begin * s.in_pixels() * s.c);
    b.scratchpad.set_data_handle(task.scratch);
    b.call->execute();
  }));
  return kernel;
}

/// Every block's gradient in oneDNN's layout in the thread's scratch, then put into the
/// workspace in Linnet's; a second stage adds them.
template <class T>
std::optional<Kernel> grad_weight(const ConvShape& s) {
  using In = Conv2dGradWeightOp::In;
  if (s.n == 0 || !has_onednn()) return std::nullopt;
  const Blocks blocks(s, partial_gradients(s, s.n, conv_cost(s.flops_per_sample())));
  const auto state = make_state(s, ConvDirection::grad_weight, blocks, false, kTypeOf<T>);
  if (!state) return std::nullopt;
  const SequentialOpenMp at_creation;  // which fixes the number of the reorder's threads
  state->reorder = dnnl::reorder(state->own, state->plain);
  std::vector<memory> plain;
  std::vector<dnnl::stream> streams;
  for (BlockOperands& b : state->blocks) {
    b.weights = unbound(state->weights, state->engine);
    b.call->operand(DNNL_ARG_SRC, b.image_in);
    b.call->operand(DNNL_ARG_DIFF_WEIGHTS, b.weights);
    b.call->operand(DNNL_ARG_DIFF_DST, b.image_out);
    b.call->operand(DNNL_ARG_SCRATCHPAD, b.scratchpad);
    plain.push_back(unbound(plain_weights(s, kTypeOf<float>), state->engine));
    streams.emplace_back(state->engine);
  }
  Kernel kernel;
  const std::size_t own_bytes = align_up(state->weights.get_size());
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(blocks.count * s.weights());
  kernel.scratch_bytes = own_bytes + state->scratchpad_bytes;
  kernel.stages.push_back(parallel(blocks.count, [=](const Args& args, const Task& task) {
    const SequentialOpenMp sequential;
    const auto index = static_cast<std::size_t>(task.index);
    const Range samples = blocks.samples(s.n, task.index);
    BlockOperands& b = state->blocks[index];
    b.image_in.set_data_handle(const_cast<T*>(args.in<T>(In::x)) +
                               samples.begin * s.in_pixels() * s.c);
    b.image_out.set_data_handle(const_cast<T*>(args.in<T>(In::dz)) +
                                samples.begin * s.out_pixels() * s.co);
    b.weights.set_data_handle(task.scratch);
    b.scratchpad.set_data_handle(task.scratch + own_bytes);
    b.call->execute();
    plain[index].set_data_handle(args.work() + task.index * s.weights());
    const std::array<dnnl_exec_arg_t, 2> arguments{
        {{DNNL_ARG_FROM, b.weights.get()}, {DNNL_ARG_TO, plain[index].get()}}};
    check_status(
        dnnl_primitive_execute(state->reorder.get(), streams[index].get(), 2, arguments.data()));
  }));
  kernel.stages.push_back(
      add_partials_stage(blocks.count, s.weights(), Conv2dGradWeightOp::Out::dw));
  return kernel;
}

}  // namespace

const ConvEngine& onednn_engine() {
  static const ConvEngine engine{"onednn", forward<float>, grad_input<float>, grad_weight<float>};
  return engine;
}

const ConvEngine& onednn_bf16_engine() {
  using Half = std::uint16_t;
  static const ConvEngine engine{"onednn-bf16", forward<Half>, grad_input<Half>, grad_weight<Half>};
  return engine;
}

}  // namespace linnet::cpu
