// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <memory>

#include "backend/cpu/copies.h"
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

/// A primitive with its operands: made once, given addresses at every run.
class Call {
 public:
  Call(const OneDnnConvolution& conv, const dnnl::engine& engine) : conv_(conv), stream_(engine) {}

  const dnnl::stream& stream() const { return stream_; }
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

/// The batch in blocks of equal size (the last may be smaller), a task each.
struct Blocks {
  Blocks(const ConvShape& s, int wanted)
      : size((s.n + wanted - 1) / wanted), count(static_cast<int>((s.n + size - 1) / size)) {}
  Range samples(std::int64_t n, int index) const {
    return {index * size, std::min((index + 1) * size, n)};
  }
  bool is_last(int index) const { return index + 1 == count; }
  std::int64_t size;
  int count;
};

/// Operands of a block of samples.
struct BlockOperands {
  memory image_in;
  memory image_out;
  memory weights;
  memory plain_weights;
  memory bias;
  memory scratchpad;
  Call call;
};

/// Everything that oneDNN needs at run time. Only addresses change, of what a task borrows.
struct State {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  std::optional<Copies<BlockOperands>> blocks;
  std::optional<Copies<BlockOperands>> last;  ///< empty: as large as the others
  memory::desc weights;                       ///< oneDNN's layout
  std::size_t scratchpad_bytes = 0;
  dnnl::reorder reorder;  ///< between Linnet's layout of the weights and oneDNN's

  Copies<BlockOperands>::Borrowed borrow(bool is_last) const {
    return (is_last && last ? *last : *blocks).borrow();
  }
};

/// Gives a call its operands.
using Arrange = void (*)(BlockOperands& block, bool bias);

/// Returns a primitive for blocks of each size, or null if oneDNN does not take the shape. The
/// layout of the weights must be the same for the last, smaller block: Tag::any could choose
/// another.
std::shared_ptr<State> make_state(ConvShape s, ConvDirection direction, const Blocks& blocks,
                                  bool bias, memory::data_type operands, Arrange arrange) {
  const SequentialOpenMp sequential;
  auto state = std::make_shared<State>();
  const std::int64_t n = s.n;
  const auto type = direction == ConvDirection::grad_weight ? kTypeOf<float> : operands;
  for (const int index : {0, blocks.count - 1}) {
    s.n = blocks.samples(n, index).size();
    const bool first = !state->blocks;
    if (!first && s.n == blocks.size) continue;
    const auto conv = make_convolution(state->engine, direction, s, bias, operands);
    if (!conv || (!first && conv->weights != state->weights)) return nullptr;
    state->weights = conv->weights;
    state->scratchpad_bytes =
        std::max(state->scratchpad_bytes, align_up(conv->scratchpad.get_size()));
    (first ? state->blocks : state->last).emplace([&] {
      BlockOperands block{.image_in = unbound(conv->image_in, state->engine),
                          .image_out = unbound(conv->image_out, state->engine),
                          .weights = unbound(state->weights, state->engine),
                          .plain_weights = unbound(plain_weights(s, type), state->engine),
                          .bias = unbound(conv->bias, state->engine),
                          .scratchpad = unbound(conv->scratchpad, state->engine),
                          .call = Call(*conv, state->engine)};
      arrange(block, bias);
      return block;
    });
  }
  return state;
}

void reorder(const State& state, const BlockOperands& borrowed, const memory& from,
             const memory& to) {
  const std::array<dnnl_exec_arg_t, 2> arguments{
      {{DNNL_ARG_FROM, from.get()}, {DNNL_ARG_TO, to.get()}}};
  check_status(dnnl_primitive_execute(state.reorder.get(), borrowed.call.stream().get(), 2,
                                      arguments.data()));
}

/// Brings the weights into oneDNN's layout.
Stage reorder_weights(const std::shared_ptr<State>& state) {
  const SequentialOpenMp at_creation;  // which fixes the number of its threads
  const BlockOperands& any = state->blocks->front();
  state->reorder = dnnl::reorder(any.plain_weights, any.weights);
  return parallel(1, [state](const Args& args) {
    const SequentialOpenMp sequential;
    const auto b = state->borrow(false);
    b->plain_weights.set_data_handle(args.inputs[Conv2dOp::In::w]);
    b->weights.set_data_handle(args.packed);
    reorder(*state, *b, b->plain_weights, b->weights);
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
  const auto arrange = [](BlockOperands& block, bool bias) {
    block.call.operand(DNNL_ARG_SRC, block.image_in);
    block.call.operand(DNNL_ARG_WEIGHTS, block.weights);
    block.call.operand(DNNL_ARG_DST, block.image_out);
    block.call.operand(DNNL_ARG_SCRATCHPAD, block.scratchpad);
    if (bias) block.call.operand(DNNL_ARG_BIAS, block.bias);
  };
  const auto state = make_state(s, ConvDirection::forward, blocks, tail.bias, kTypeOf<T>, arrange);
  if (!state) return std::nullopt;
  Kernel kernel = with_packed_weights(state);
  kernel.stages.push_back(parallel(blocks.count, [=](const Args& args, const Task& task) {
    const SequentialOpenMp sequential;
    const Range samples = blocks.samples(s.n, task.index);
    const auto b = state->borrow(blocks.is_last(task.index));
    float* y = args.out(Out::y) + samples.begin * s.out_pixels() * s.co;
    b->image_in.set_data_handle(const_cast<T*>(args.in<T>(In::x)) +
                                samples.begin * s.in_pixels() * s.c);
    b->image_out.set_data_handle(y);
    b->weights.set_data_handle(args.packed);
    if (tail.bias) b->bias.set_data_handle(const_cast<float*>(args.in(In::b)));
    b->scratchpad.set_data_handle(task.scratch);
    b->call.execute();
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
  const auto arrange = [](BlockOperands& block, bool /*bias*/) {
    block.call.operand(DNNL_ARG_DIFF_SRC, block.image_in);
    block.call.operand(DNNL_ARG_WEIGHTS, block.weights);
    block.call.operand(DNNL_ARG_DIFF_DST, block.image_out);
    block.call.operand(DNNL_ARG_SCRATCHPAD, block.scratchpad);
  };
  const auto state = make_state(s, ConvDirection::grad_input, blocks, false, kTypeOf<T>, arrange);
  if (!state) return std::nullopt;
  Kernel kernel = with_packed_weights(state);
  kernel.stages.push_back(parallel(blocks.count, [=](const Args& args, const Task& task) {
    const SequentialOpenMp sequential;
    const Range samples = blocks.samples(s.n, task.index);
    const auto b = state->borrow(blocks.is_last(task.index));
    b->image_out.set_data_handle(const_cast<T*>(args.in<T>(Conv2dGradInputOp::In::dz)) +
                                 samples.begin * s.out_pixels() * s.co);
    b->image_in.set_data_handle(args.out(Conv2dGradInputOp::Out::dx) +
                                samples.begin * s.in_pixels() * s.c);
    b->weights.set_data_handle(args.packed);
    b->scratchpad.set_data_handle(task.scratch);
    b->call.execute();
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
  const auto arrange = [](BlockOperands& block, bool /*bias*/) {
    block.call.operand(DNNL_ARG_SRC, block.image_in);
    block.call.operand(DNNL_ARG_DIFF_WEIGHTS, block.weights);
    block.call.operand(DNNL_ARG_DIFF_DST, block.image_out);
    block.call.operand(DNNL_ARG_SCRATCHPAD, block.scratchpad);
  };
  const auto state = make_state(s, ConvDirection::grad_weight, blocks, false, kTypeOf<T>, arrange);
  if (!state) return std::nullopt;
  const SequentialOpenMp at_creation;  // which fixes the number of the reorder's threads
  const BlockOperands& any = state->blocks->front();
  state->reorder = dnnl::reorder(any.weights, any.plain_weights);
  Kernel kernel;
  const std::size_t own_bytes = align_up(state->weights.get_size());
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(blocks.count * s.weights());
  kernel.scratch_bytes = own_bytes + state->scratchpad_bytes;
  kernel.stages.push_back(parallel(blocks.count, [=](const Args& args, const Task& task) {
    const SequentialOpenMp sequential;
    const Range samples = blocks.samples(s.n, task.index);
    const auto b = state->borrow(blocks.is_last(task.index));
    b->image_in.set_data_handle(const_cast<T*>(args.in<T>(In::x)) +
                                samples.begin * s.in_pixels() * s.c);
    b->image_out.set_data_handle(const_cast<T*>(args.in<T>(In::dz)) +
                                 samples.begin * s.out_pixels() * s.co);
    b->weights.set_data_handle(task.scratch);
    b->scratchpad.set_data_handle(task.scratch + own_bytes);
    b->call.execute();
    b->plain_weights.set_data_handle(args.work() + task.index * s.weights());
    reorder(*state, *b, b->weights, b->plain_weights);
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
