// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/batch_norm_cpu.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "backend/cpu/kernel.h"
#include "backend/cpu/partial_sums.h"
#include "backend/cpu/stored.h"
#include "ops/batch_norm/batch_norm.h"

namespace linnet::cpu {
namespace {

struct Rows {
  std::int64_t rows = 0;
  std::int64_t channels = 0;
  std::int64_t pitch = 0;  ///< of x; everything else follows each other

  Stored x = {};

  /// Returns rows of x, perhaps in `block`, which then has its channels alone.
  PitchedRows of(const void* from, std::int64_t begin, std::int64_t count, float* block) const {
    if (!x.bf16()) return {static_cast<const float*>(from) + begin * pitch, pitch, count};
    if (pitch == channels) {
      x.read(from, begin * pitch, count * channels, block);
    } else {
      for (std::int64_t r = 0; r < count; ++r) {
        x.read(from, (begin + r) * pitch, channels, block + r * channels);
      }
    }
    return {block, channels, count};
  }

  int tasks(double cost_each) const {
    return tasks_for(rows, cost_each * static_cast<double>(channels));
  }
  /// Tasks that sum rows, two sums a channel; these are merged in order.
  int summing_tasks(double cost_each) const {
    return partial_tasks(rows, cost_each * static_cast<double>(channels), 2 * channels);
  }
  std::size_t bytes_of_channels(std::int64_t count) const {
    return sizeof(float) * static_cast<std::size_t>(count * channels);
  }
};

/// Rows of `like`, y or dy; x may be wider.
Rows rows_of(const Shape& like, const ValueType& x) {
  const std::int64_t channels = like[-1];
  return {channels > 0 ? like.elements() / channels : 0, channels, x.shape[-1], Stored(x)};
}

/// Blocks of rows of operands, some of which are widened in scratch memory.
class RowBlocks {
 public:
  RowBlocks(const NodeView& node, const Rows& s)
      : stored_(stores_bf16(node)), rows_(stored_rows(s.channels)), channels_(s.channels) {}

  /// With room for so many operands and results of a block.
  std::size_t scratch_bytes(int operands) const {
    return stored_ ? sizeof(float) * static_cast<std::size_t>(operands * room()) : 0;
  }
  /// Calls f(rows, block), block(i) the room of an operand; all rows at once where all are f32.
  template <class F>
  void each(Range range, std::byte* scratch, F f) const {
    const std::int64_t rows = stored_ ? rows_ : range.size();
    for (std::int64_t r = range.begin; r < range.end; r += rows) {
      f(Range{r, std::min(r + rows, range.end)},
        [&](int i) { return reinterpret_cast<float*>(scratch) + i * room(); });
    }
  }

 private:
  std::int64_t room() const { return rows_ * channels_; }

  bool stored_ = false;
  std::int64_t rows_ = 1;
  std::int64_t channels_ = 1;
};

/// Returns a stage of f(args, task, rows), the last rows first: what was read or written last is
/// still in a cache, and whoever reads the result begins with its first rows.
template <class F>
Stage by_rows_reversed(const Rows& s, double cost_each, F f) {
  const int tasks = s.tasks(cost_each);
  return parallel(tasks, [=](const Args& args, const Task& task) {
    f(args, task, split(s.rows, tasks, tasks - 1 - task.index));
  });
}

/// Rows whose moments are taken at once, in two readings: they stay in the L2 cache.
std::int64_t moment_rows(std::int64_t channels) {
  constexpr std::int64_t kFloats = 32768;
  return std::max<std::int64_t>(kFloats / std::max<std::int64_t>(channels, 1), 16);
}

/// The moments of a range of rows into `to`, of at least one; `block` and `widened` are
/// overwritten.
void moments_of_range(const Args& args, const Rows& s, Range range, const Moments& block,
                      float* widened, const Moments& to) {
  const std::int64_t at_once = moment_rows(s.channels);
  for (std::int64_t r = range.begin; r < range.end; r += at_once) {
    const std::int64_t rows = std::min(at_once, range.end - r);
    const bool first = r == range.begin;
    moments_of(s.of(args.inputs[BatchNormOp::In::x], r, rows, widened), s.channels,
               first ? to : block);
    if (!first) merge_moments(block, rows, s.channels, to, r - range.begin);
  }
}

/// `mean_input`: the operand that holds the mean; 0 where the node itself computes it.
template <class Attrs>
void add_normalize_stage(const NodeView& node, const Rows& s, const Attrs& attrs,
                         std::size_t mean_input, std::int64_t scale_at, Kernel& kernel) {
  using In = BatchNormOp::In;
  using Out = BatchNormOp::Out;
  const RowBlocks blocks(node, s);
  const Stored added = attrs.residual ? Stored(node.inputs[In::residual]) : Stored();
  const Stored result(node.outputs[Out::y]);
  kernel.scratch_bytes = std::max(kernel.scratch_bytes, blocks.scratch_bytes(2));
  kernel.stages.push_back(
      by_rows_reversed(s, 0.5, [=](const Args& args, const Task& task, Range range) {
        const float* mean = mean_input > 0 ? args.in(mean_input) : args.out(Out::mean);
        const Normalization by{mean, args.work() + scale_at, args.in(In::beta),
                               attrs.activation == Activation::relu};
        blocks.each(range, task.scratch, [&](Range rows, auto block) {
          const std::int64_t begin = rows.begin * s.channels;
          const std::int64_t count = rows.size() * s.channels;
          const PitchedRows x = s.of(args.inputs[In::x], rows.begin, rows.size(), block(0));
          const float* residual =
              attrs.residual ? added.read(args.inputs[In::residual], begin, count, block(1))
                             : nullptr;
          float* y = result.target(args.outputs[Out::y], begin, block(0));
          normalize_rows(by, x, residual, s.channels, y);
          result.write(y, count, args.outputs[Out::y], begin);
        });
      }));
}

/// Room for what is summed over the parts of a batch, in floats: two sums a channel and the rows,
/// in f64.
std::int64_t sync_floats(const std::shared_ptr<const NormSync>& sync, std::int64_t channels) {
  return sync == nullptr ? 0 : 2 * (2 * channels + 1) + 1;
}

/// Returns that room in the workspace, after `used` floats.
std::span<double> sync_sums(const Args& args, std::int64_t used, std::int64_t channels) {
  auto* begin = reinterpret_cast<double*>(args.work() + (used + 1) / 2 * 2);
  return {begin, static_cast<std::size_t>(2 * channels + 1)};
}

/// Hands over the moments of some rows, to be summed in f64: what cancels is below f32's rounding
/// of the means.
void give_moments(const NormSync& sync, const Task& task, std::int64_t rows, std::span<double> sums,
                  const Moments& all) {
  if (!sync.sum) return;
  const std::size_t channels = sums.size() / 2;
  for (std::size_t c = 0; c < channels; ++c) {
    const double mean = all.mean[c];
    sums[c] = static_cast<double>(rows) * mean;
    sums[channels + c] = all.squares[c] + static_cast<double>(rows) * mean * mean;
  }
  sums.back() = static_cast<double>(rows);
  sync.sum(sums, task.step->first_row);
}

/// Turns these sums into the moments of the whole batch; returns its rows.
float take_moments(const NormSync& sync, std::int64_t rows, std::span<const double> sums,
                   const Moments& all) {
  if (!sync.sum) return static_cast<float>(rows);
  const std::size_t channels = sums.size() / 2;
  for (std::size_t c = 0; c < channels; ++c) {
    const double mean = sums[c] / sums.back();
    all.mean[c] = static_cast<float>(mean);
    all.squares[c] =
        static_cast<float>(std::max(sums[channels + c] - sums.back() * mean * mean, 0.0));
  }
  return static_cast<float>(sums.back());
}

/// Mean and squared distances from it block by block: no cancellation however far the
/// mean is from 0. The workspace has the moments of the tasks, then scales.
std::optional<Kernel> prepare_forward(const NodeView& node) {
  using In = BatchNormOp::In;
  using Out = BatchNormOp::Out;
  if (!stores_only(node, {In::x, In::residual}, {Out::y})) return std::nullopt;
  const Rows s = rows_of(node.out(kFirst), node.inputs[In::x]);
  const BatchNormAttrs attrs = node.attrs<BatchNormOp>();
  const auto momentum = static_cast<float>(attrs.momentum);
  const auto epsilon = static_cast<float>(attrs.epsilon);
  const int tasks = s.summing_tasks(0.4);
  const std::int64_t scale_at = 2 * tasks * s.channels;
  const auto moments = [=](float* work, int task) {
    float* mean = work + 2 * task * s.channels;
    return Moments{mean, mean + s.channels};
  };
  Kernel kernel;
  const std::int64_t used = scale_at + s.channels;
  kernel.workspace_bytes =
      sizeof(float) * static_cast<std::size_t>(used + sync_floats(attrs.sync, s.channels));
  kernel.scratch_bytes = s.bytes_of_channels(2 + (s.x.bf16() ? moment_rows(s.channels) : 0));
  kernel.stages.push_back(
      parallel(tasks, s.rows, [=](const Args& args, const Task& task, Range range) {
        auto* block = reinterpret_cast<float*>(task.scratch);
        const Moments to = moments(args.work(), task.index);
        if (s.rows == 0) std::fill_n(to.mean, 2 * s.channels, 0.0F);
        moments_of_range(args, s, range, {block, block + s.channels}, block + 2 * s.channels, to);
      }));
  const auto merge = [=](const Args& args, Range channels) {
    const auto part = [&](int task) {
      const Moments of = moments(args.work(), task);
      return Moments{of.mean + channels.begin, of.squares + channels.begin};
    };
    for (int t = 1; t < tasks; ++t) {
      const Range range = split(s.rows, tasks, t);
      merge_moments(part(t), range.size(), channels.size(), part(0), range.begin);
    }
  };
  const auto use = [=](const Args& args, Range channels, float count) {
    const Moments all = moments(args.work(), 0);
    for (std::int64_t c = channels.begin; c < channels.end; ++c) {
      const float sum = all.squares[c];
      const float inv_std = 1.0F / std::sqrt(sum / count + epsilon);
      args.out(Out::mean)[c] = all.mean[c];
      args.out(Out::inv_std)[c] = inv_std;
      args.work()[scale_at + c] = inv_std * args.in(In::gamma)[c];
      if (s.rows == 0) continue;
      float& mean = args.in_out(In::running_mean)[c];
      float& variance = args.in_out(In::running_var)[c];
      mean = (1 - momentum) * mean + momentum * all.mean[c];
      variance = (1 - momentum) * variance + momentum * (sum / std::max(count - 1.0F, 1.0F));
    }
  };
  if (attrs.sync != nullptr) {  // the moments of all channels at once
    kernel.stages.push_back(parallel(1, [=](const Args& args, const Task& task) {
      merge(args, {0, s.channels});
      give_moments(*attrs.sync, task, s.rows, sync_sums(args, used, s.channels),
                   moments(args.work(), 0));
    }));
    kernel.stages.push_back(parallel(1, [=](const Args& args) {
      const float count = take_moments(*attrs.sync, s.rows, sync_sums(args, used, s.channels),
                                       moments(args.work(), 0));
      use(args, {0, s.channels}, count);
    }));
  } else {
    const int mergers = tasks_for(s.channels, 0.6 * tasks);
    kernel.stages.push_back(parallel(mergers, s.channels, [=](const Args& args, Range channels) {
      merge(args, channels);
      use(args, channels, static_cast<float>(std::max<std::int64_t>(s.rows, 1)));
    }));
  }
  add_normalize_stage(node, s, attrs, 0, scale_at, kernel);
  return kernel;
}

/// work[scale_at ...] = inv_std * gamma, as the forward pass has it.
Stage scale_stage(const Rows& s, std::size_t gamma, std::size_t inv_std, std::int64_t scale_at) {
  return parallel(1, [=](const Args& args) {
    for (std::int64_t c = 0; c < s.channels; ++c) {
      args.work()[scale_at + c] = args.in(inv_std)[c] * args.in(gamma)[c];
    }
  });
}

std::optional<Kernel> prepare_inference(const NodeView& node) {
  using In = BatchNormInferenceOp::In;
  if (!stores_only(node, {In::x, In::residual}, {kFirst})) return std::nullopt;
  const Rows s = rows_of(node.out(kFirst), node.inputs[In::x]);
  const BatchNormAttrs attrs = node.attrs<BatchNormInferenceOp>();
  const auto epsilon = static_cast<float>(attrs.epsilon);
  Kernel kernel;
  kernel.workspace_bytes = s.bytes_of_channels(1);
  kernel.stages.push_back(parallel(1, [=](const Args& args) {
    const float* variance = args.in(In::running_var);
    for (std::int64_t c = 0; c < s.channels; ++c) {
      args.work()[c] = 1.0F / std::sqrt(variance[c] + epsilon) * args.in(In::gamma)[c];
    }
  }));
  add_normalize_stage(node, s, attrs, 3, 0, kernel);
  return kernel;
}

/// The second run of the forward pass' last stage.
std::optional<Kernel> prepare_again(const NodeView& node) {
  using In = BatchNormAgainOp::In;
  if (!stores_only(node, {In::x, In::residual}, {kFirst})) return std::nullopt;
  const BatchNormAgainAttrs attrs = node.attrs<BatchNormAgainOp>();
  const Rows s = rows_of(node.out(kFirst), node.inputs[In::x]);
  Kernel kernel;
  kernel.workspace_bytes = s.bytes_of_channels(1);
  kernel.stages.push_back(scale_stage(s, In::gamma, In::inv_std, 0));
  add_normalize_stage(node, s, attrs, In::mean, 0, kernel);
  return kernel;
}

/// How a gradient's operands and results lie in memory.
struct GradientStorage {
  explicit GradientStorage(const NodeView& node)
      : dy(node.inputs[BatchNormGradOp::In::dy]),
        y(node.inputs.back()),
        dx(node.outputs[BatchNormGradOp::Out::dx]),
        dresidual(node.outputs.back()) {}

  Stored dy;
  Stored y;
  Stored dx;
  Stored dresidual;
};

/// Returns a block of rows of the gradient; `line` is read where the mask follows from x.
template <class Block>
GradientRows gradient_rows(const Args& args, const Rows& s, const BatchNormGradAttrs& attrs,
                           const GradientStorage& stored, Range rows, Block block,
                           const Normalization& line) {
  using In = BatchNormGradOp::In;
  const std::int64_t begin = rows.begin * s.channels;
  const std::int64_t count = rows.size() * s.channels;
  const bool masked = attrs.activation == Activation::relu;
  return {stored.dy.read(args.inputs[In::dy], begin, count, block(0)),
          s.of(args.inputs[In::x], rows.begin, rows.size(), block(1)),
          masked && !attrs.from_input ? stored.y.read(args.inputs[In::y], begin, count, block(2))
                                      : nullptr,
          attrs.from_input ? &line : nullptr};
}

/// Adds stages that let dx follow from the sums of the whole batch.
void add_sync_stages(Kernel& kernel, const Rows& s, const std::shared_ptr<const NormSync>& sync,
                     std::int64_t scale_at) {
  using In = BatchNormGradOp::In;
  using Out = BatchNormGradOp::Out;
  const auto channels = static_cast<std::size_t>(s.channels);
  const auto sums_of = [=](const Args& args) {
    return sync_sums(args, scale_at + 3 * s.channels, s.channels);
  };
  kernel.stages.push_back(parallel(1, [=](const Args& args, const Task& task) {
    if (!sync->sum) return;
    const std::span<double> sums = sums_of(args);
    std::copy_n(args.out(Out::dgamma), channels, sums.begin());
    std::copy_n(args.out(Out::dbeta), channels, sums.begin() + s.channels);
    sums.back() = static_cast<double>(s.rows);
    sync->sum(sums, task.step->first_row);
  }));
  kernel.stages.push_back(parallel(1, [=](const Args& args) {
    if (!sync->sum) return;
    const std::span<const double> sums = sums_of(args);
    float* scale = args.work() + scale_at;
    for (std::size_t c = 0; c < channels; ++c) {
      const double part = scale[c] / sums.back();
      scale[channels + c] = static_cast<float>(part * args.in(In::inv_std)[c] * sums[c]);
      scale[2 * channels + c] = static_cast<float>(part * sums[channels + c]);
    }
  }));
}

/// Both sums by task, then all of them and what follows for a channel, then dx. The workspace has
/// the products of the tasks, their sums, then the lines by which dx follows, scale first.
std::optional<Kernel> prepare_gradient(const NodeView& node) {
  using In = BatchNormGradOp::In;
  using Out = BatchNormGradOp::Out;
  const BatchNormGradAttrs attrs = node.attrs<BatchNormGradOp>();
  const std::size_t y = attrs.activation == Activation::relu && !attrs.from_input ? In::y : In::dy;
  // The residual's gradient is read again for dx: it is dy or 0, of which none is rounded.
  const bool rounds = node.inputs[In::dy].dtype == DType::f32;
  const std::size_t dresidual = attrs.residual && !rounds ? Out::dresidual : Out::dx;
  if (!stores_only(node, {In::dy, In::x, y}, {Out::dx, dresidual})) return std::nullopt;
  const Rows s = rows_of(node.in(In::dy), node.inputs[In::x]);
  const GradientStorage stored(node);
  const RowBlocks blocks(node, s);
  const bool residual = attrs.residual;
  const float part = s.rows > 0 ? 1.0F / static_cast<float>(s.rows) : 0.0F;
  const int tasks = s.summing_tasks(0.6);
  const std::int64_t of_tasks = tasks * s.channels;
  const auto forward = [=](const Args& args) {
    return Normalization{.scale = args.work() + 2 * of_tasks,
                         .shift = attrs.from_input ? args.in(In::beta) : nullptr};
  };
  Kernel kernel;
  kernel.workspace_bytes =
      s.bytes_of_channels(2 * tasks + 3) +
      sizeof(float) * static_cast<std::size_t>(sync_floats(attrs.sync, s.channels));
  if (attrs.from_input) {
    kernel.stages.push_back(scale_stage(s, In::gamma, In::inv_std, 2 * of_tasks));
  }
  kernel.stages.push_back(
      parallel(tasks, s.rows, [=](const Args& args, const Task& task, Range range) {
        float* products = args.work() + task.index * s.channels;
        float* sums = products + of_tasks;
        std::fill_n(products, s.channels, 0.0F);
        std::fill_n(sums, s.channels, 0.0F);
        const Normalization line = forward(args);
        blocks.each(range, task.scratch, [&](Range rows, auto block) {
          const std::int64_t begin = rows.begin * s.channels;
          void* to = residual ? args.outputs[Out::dresidual] : nullptr;
          float* dz = residual ? stored.dresidual.target(to, begin, block(3)) : nullptr;
          add_gradient_sums(gradient_rows(args, s, attrs, stored, rows, block, line), s.channels,
                            args.in(In::mean), products, sums, dz);
          if (residual) stored.dresidual.write(dz, rows.size() * s.channels, to, begin);
        });
      }));
  const int adders = tasks_for(s.channels, 0.4 * tasks);
  kernel.stages.push_back(parallel(adders, s.channels, [=](const Args& args, Range range) {
    float* dgamma = args.out(Out::dgamma);
    float* dbeta = args.out(Out::dbeta);
    add_partials(args.work(), tasks, s.channels, range, dgamma);
    add_partials(args.work() + of_tasks, tasks, s.channels, range, dbeta);
    float* scale = args.work() + 2 * of_tasks;
    float* slope = scale + s.channels;
    float* shift = slope + s.channels;
    for (std::int64_t c = range.begin; c < range.end; ++c) {
      const float inv_std = args.in(In::inv_std)[c];
      dgamma[c] *= inv_std;
      scale[c] = args.in(In::gamma)[c] * inv_std;
      slope[c] = scale[c] * part * inv_std * dgamma[c];
      shift[c] = scale[c] * part * dbeta[c];
    }
  }));
  if (attrs.sync != nullptr) add_sync_stages(kernel, s, attrs.sync, 2 * of_tasks);
  // What the residual gets has been masked.
  BatchNormGradAttrs last = attrs;
  GradientStorage from = stored;
  if (residual) {
    last.activation = Activation::none;
    from.dy = stored.dresidual;
  }
  kernel.stages.push_back(
      by_rows_reversed(s, 0.8, [=](const Args& args, const Task& task, Range range) {
        const Normalization line = forward(args);
        const float* scale = args.work() + 2 * of_tasks;
        const GradientLine by{args.in(In::mean), scale, scale + s.channels, scale + 2 * s.channels};
        std::array<void*, 6> inputs{};
        std::ranges::copy(args.inputs, inputs.begin());
        if (residual) inputs[In::dy] = args.outputs[Out::dresidual];
        const Args inner{inputs, args.outputs, args.workspace, args.packed};
        blocks.each(range, task.scratch, [&](Range rows, auto block) {
          const std::int64_t begin = rows.begin * s.channels;
          float* dx = stored.dx.target(args.outputs[Out::dx], begin, block(3));
          write_gradient(gradient_rows(inner, s, last, from, rows, block, line), s.channels, by,
                         dx);
          stored.dx.write(dx, rows.size() * s.channels, args.outputs[Out::dx], begin);
        });
      }));
  kernel.scratch_bytes = blocks.scratch_bytes(4);
  return kernel;
}

}  // namespace

void register_batch_norm(Registry& registry) {
  registry.add(BatchNormOp::kName, prepare_forward, Stores::bf16);
  registry.add(BatchNormAgainOp::kName, prepare_again, Stores::bf16);
  registry.add(BatchNormInferenceOp::kName, prepare_inference, Stores::bf16);
  registry.add(BatchNormGradOp::kName, prepare_gradient, Stores::bf16);
}

}  // namespace linnet::cpu
