// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/batch_norm_cpu.h"

#include <cmath>

#include "backend/cpu/kernel.h"
#include "backend/cpu/partial_sums.h"
#include "backend/cpu/stored.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/batch_norm/joined.h"
#include "ops/batch_norm/statistics.h"

namespace linnet::cpu {
namespace {

struct Rows {
  std::int64_t rows = 0;
  std::int64_t channels = 0;
  std::int64_t pitch = 0;  ///< of x; everything else follows each other
  std::int64_t first = 0;  ///< channel of x

  template <class T>
  PitchedRows<T> of(const T* x, std::int64_t begin, std::int64_t count) const {
    return {x + begin * pitch + first, pitch, count};
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

/// Rows of x, of which `channels` count.
Rows rows_of(const Shape& x, std::int64_t channels) {
  return {channels > 0 ? x.elements() / x[-1] : 0, channels, x[-1]};
}

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

// T: how activations are stored, float or bfloat16.

/// The moments of a range of rows into `to`, of at least one; `block` is overwritten.
template <class T>
void moments_of_range(const Args& args, const Rows& s, Range range, const Moments& block,
                      const Moments& to) {
  const std::int64_t at_once = moment_rows(s.channels);
  for (std::int64_t r = range.begin; r < range.end; r += at_once) {
    const std::int64_t rows = std::min(at_once, range.end - r);
    const bool first = r == range.begin;
    moments_of(s.of(args.in<T>(BatchNormOp::In::x), r, rows), s.channels, first ? to : block);
    if (!first) merge_moments(block, rows, s.channels, to, r - range.begin);
  }
}

/// `mean_input`: the operand that holds the mean; 0 where the node itself computes it. `scale_of`
/// gives a task the scales of the channels; where that costs something, tasks are longer.
template <class T, class Attrs, class ScaleOf>
Stage normalize_stage(const Rows& s, const Attrs& attrs, std::size_t mean_input, double cost_each,
                      ScaleOf scale_of) {
  using In = BatchNormOp::In;
  using Out = BatchNormOp::Out;
  return by_rows_reversed(s, cost_each, [=](const Args& args, const Task& task, Range range) {
    const std::int64_t begin = range.begin * s.channels;
    const float* mean = mean_input > 0 ? args.in(mean_input) : args.out(Out::mean);
    normalize_rows({mean, scale_of(args, task), args.in(In::beta),
                    attrs.activation == Activation::relu},
                   s.of(args.in<T>(In::x), range.begin, range.size()),
                   attrs.residual ? args.in<T>(In::residual) + begin : nullptr, s.channels,
                   args.out<T>(Out::y) + begin);
  });
}

/// Returns scales that a stage before has written to the workspace.
auto stored_scale(std::int64_t scale_at) {
  return [=](const Args& args, const Task&) -> const float* { return args.work() + scale_at; };
}

/// Room for what is summed over the parts of a batch, in floats: two sums a channel and the rows,
/// in f64.
std::int64_t sync_floats(bool sync, std::int64_t channels) {
  return !sync ? 0 : 2 * (2 * channels + 1) + 1;
}

/// Returns that room in the workspace, after `used` floats.
std::span<double> sync_sums(const Args& args, std::int64_t used, std::int64_t channels) {
  auto* begin = reinterpret_cast<double*>(args.work() + (used + 1) / 2 * 2);
  return {begin, static_cast<std::size_t>(2 * channels + 1)};
}

/// Returns whether the batch has other shards, whose sums count too.
bool sums_statistics(const Args& args) {
  return args.exchange != nullptr && args.exchange->sum_statistics;
}

/// Hands over the moments of some rows, to be summed in f64: what cancels is below f32's rounding
/// of the means.
void give_moments(const Args& args, const Task& task, std::int64_t rows, std::span<double> sums,
                  const Moments& all) {
  if (!sums_statistics(args)) return;
  const std::size_t channels = sums.size() / 2;
  for (std::size_t c = 0; c < channels; ++c) {
    const double mean = all.mean[c];
    sums[c] = static_cast<double>(rows) * mean;
    sums[channels + c] = all.squares[c] + static_cast<double>(rows) * mean * mean;
  }
  sums.back() = static_cast<double>(rows);
  args.exchange->sum_statistics(sums, task.step->first_row);
}

/// Turns these sums into the moments of the whole batch; returns its rows.
float take_moments(const Args& args, std::int64_t rows, std::span<const double> sums,
                   const Moments& all) {
  if (!sums_statistics(args)) return static_cast<float>(rows);
  const std::size_t channels = sums.size() / 2;
  for (std::size_t c = 0; c < channels; ++c) {
    const double mean = sums[c] / sums.back();
    all.mean[c] = static_cast<float>(mean);
    all.squares[c] =
        static_cast<float>(std::max(sums[channels + c] - sums.back() * mean * mean, 0.0));
  }
  return static_cast<float>(sums.back());
}

/// Mean and squared distances from it block by block: no cancellation however far the mean is from
/// 0, of the channels after the `known` ones. The workspace has the moments of the tasks, then
/// scales. Op: BatchNormOp or BatchNormStatisticsOp.
template <class T, class Op>
std::optional<Kernel> prepare_forward(const NodeView& node, const BatchNormAttrs& attrs,
                                      std::int64_t known) {
  using In = BatchNormOp::In;
  using Out = typename Op::Out;
  constexpr bool kNormalizes = std::is_same_v<Op, BatchNormOp>;
  Rows s = rows_of(node.in(In::x), node.in(In::gamma)[0]);
  s.channels -= known;
  s.first = known;
  const auto momentum = static_cast<float>(attrs.momentum);
  const auto epsilon = static_cast<float>(attrs.epsilon);
  const int tasks = s.summing_tasks(1.0);
  const std::int64_t scale_at = 2 * tasks * s.channels;
  const auto moments = [=](float* work, int task) {
    float* mean = work + 2 * task * s.channels;
    return Moments{mean, mean + s.channels};
  };
  Kernel kernel;
  kernel.alone = attrs.sync;
  const std::int64_t used = scale_at + s.channels;
  kernel.workspace_bytes =
      sizeof(float) * static_cast<std::size_t>(used + sync_floats(attrs.sync, s.channels));
  kernel.scratch_bytes = s.bytes_of_channels(2);
  kernel.stages.push_back(
      parallel(tasks, s.rows, [=](const Args& args, const Task& task, Range range) {
        auto* block = reinterpret_cast<float*>(task.scratch);
        const Moments to = moments(args.work(), task.index);
        if (s.rows == 0) std::fill_n(to.mean, 2 * s.channels, 0.0F);
        moments_of_range<T>(args, s, range, {block, block + s.channels}, to);
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
  /// Writes the results of channel c of y.
  const auto finish = [=](const Args& args, std::int64_t c, float mean, float variance,
                          float unbiased) {
    args.out(Out::mean)[c] = mean;
    args.out(Out::inv_std)[c] = 1.0F / std::sqrt(variance + epsilon);
    if constexpr (!kNormalizes) args.out(Out::variance)[c] = variance;
    if (s.rows == 0) return;
    float& running_mean = args.in_out(In::running_mean)[c];
    float& running_var = args.in_out(In::running_var)[c];
    running_mean = (1 - momentum) * running_mean + momentum * mean;
    running_var = (1 - momentum) * running_var + momentum * unbiased;
  };
  const auto use = [=](const Args& args, Range channels, float count) {
    const Moments all = moments(args.work(), 0);
    for (std::int64_t c = channels.begin; c < channels.end; ++c) {
      const float sum = all.squares[c];
      finish(args, known + c, all.mean[c], sum / count, sum / std::max(count - 1.0F, 1.0F));
      if constexpr (kNormalizes) {
        args.work()[scale_at + c] = args.out(Out::inv_std)[c] * args.in(In::gamma)[c];
      }
    }
    if constexpr (!kNormalizes) {
      for (std::int64_t c = 0; channels.begin == 0 && c < known; ++c) {
        const float variance = args.in(Op::In::known_variance)[c];
        finish(args, c, args.in(Op::In::known_mean)[c], variance,
               variance * count / std::max(count - 1.0F, 1.0F));
      }
    }
  };
  if (attrs.sync) {  // the moments of all channels at once
    kernel.stages.push_back(parallel(1, [=](const Args& args, const Task& task) {
      merge(args, {0, s.channels});
      give_moments(args, task, s.rows, sync_sums(args, used, s.channels), moments(args.work(), 0));
    }));
    kernel.stages.push_back(parallel(1, [=](const Args& args) {
      const float count =
          take_moments(args, s.rows, sync_sums(args, used, s.channels), moments(args.work(), 0));
      use(args, {0, s.channels}, count);
    }));
  } else {
    const int mergers = tasks_for(s.channels, 0.6 * tasks);
    kernel.stages.push_back(parallel(mergers, s.channels, [=](const Args& args, Range channels) {
      merge(args, channels);
      use(args, channels, static_cast<float>(std::max<std::int64_t>(s.rows, 1)));
    }));
  }
  if constexpr (kNormalizes) {
    kernel.stages.push_back(normalize_stage<T>(s, attrs, 0, 1.0, stored_scale(scale_at)));
  }
  return kernel;
}

template <class T>
std::optional<Kernel> prepare_norm(const NodeView& node) {
  return prepare_forward<T, BatchNormOp>(node, node.attrs<BatchNormOp>(), 0);
}

std::optional<Kernel> prepare_statistics(const NodeView& node) {
  const BatchNormStatisticsAttrs attrs = node.attrs<BatchNormStatisticsOp>();
  if (attrs.known > 0 && attrs.norm.sync) return std::nullopt;
  return prepare_forward<float, BatchNormStatisticsOp>(node, attrs.norm, attrs.known);
}

/// Returns a function that computes inv_std * gamma, as in the forward pass, in a task's scratch
/// memory: waiting for a stage of its own would take longer.
auto own_scale(std::int64_t channels, std::size_t gamma, std::size_t inv_std) {
  return [=](const Args& args, const Task& task) -> const float* {
    auto* scale = reinterpret_cast<float*>(task.scratch);
    for (std::int64_t c = 0; c < channels; ++c) scale[c] = args.in(inv_std)[c] * args.in(gamma)[c];
    return scale;
  };
}

template <class T>
std::optional<Kernel> prepare_inference(const NodeView& node) {
  using In = BatchNormInferenceOp::In;
  const Rows s = rows_of(node.in(In::x), node.out(kFirst)[-1]);
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
  kernel.stages.push_back(normalize_stage<T>(s, attrs, 3, 1.0, stored_scale(0)));
  return kernel;
}

/// The second run of normalize_stage().
template <class T>
std::optional<Kernel> prepare_again(const NodeView& node) {
  using In = BatchNormAgainOp::In;
  const Rows s = rows_of(node.in(In::x), node.out(kFirst)[-1]);
  Kernel kernel;
  kernel.scratch_bytes = s.bytes_of_channels(1);
  kernel.stages.push_back(normalize_stage<T>(s, node.attrs<BatchNormAgainOp>(), In::mean, 0.5,
                                             own_scale(s.channels, In::gamma, In::inv_std)));
  return kernel;
}

/// Returns a range of rows of the gradient; `line` is read where the mask follows from x.
template <class T>
GradientRows<T> gradient_rows(const Args& args, const Rows& s, const BatchNormGradAttrs& attrs,
                              Range range, const Normalization& line) {
  using In = BatchNormGradOp::In;
  const std::int64_t begin = range.begin * s.channels;
  const bool masked = attrs.activation == Activation::relu;
  return {args.in<T>(In::dy) + begin, s.of(args.in<T>(In::x), range.begin, range.size()),
          masked && !attrs.from_input ? args.in<T>(In::y) + begin : nullptr,
          attrs.from_input ? &line : nullptr};
}

/// Adds stages that let dx follow from the sums of the whole batch.
void add_sync_stages(Kernel& kernel, const Rows& s, std::int64_t scale_at) {
  using In = BatchNormGradOp::In;
  using Out = BatchNormGradOp::Out;
  const auto channels = static_cast<std::size_t>(s.channels);
  const auto sums_of = [=](const Args& args) {
    return sync_sums(args, scale_at + 3 * s.channels, s.channels);
  };
  kernel.stages.push_back(parallel(1, [=](const Args& args, const Task& task) {
    if (!sums_statistics(args)) return;
    const std::span<double> sums = sums_of(args);
    std::copy_n(args.out(Out::dgamma), channels, sums.begin());
    std::copy_n(args.out(Out::dbeta), channels, sums.begin() + s.channels);
    sums.back() = static_cast<double>(s.rows);
    args.exchange->sum_statistics(sums, task.step->first_row);
  }));
  kernel.stages.push_back(parallel(1, [=](const Args& args) {
    if (!sums_statistics(args)) return;
    const std::span<const double> sums = sums_of(args);
    float* scale = args.work() + scale_at;
    for (std::size_t c = 0; c < channels; ++c) {
      const double part = scale[c] / sums.back();
      scale[channels + c] = static_cast<float>(part * args.in(In::inv_std)[c] * sums[c]);
      scale[2 * channels + c] = static_cast<float>(part * sums[channels + c]);
    }
  }));
}

/// Where dx goes, if not to output 0 alone.
struct GradientTail {
  std::optional<std::size_t> into;  ///< a wider operand to which it is added
  std::int64_t piece = 0;           ///< channels, the last ones, that are also written apart
  std::size_t piece_at = 0;         ///< as this output
};

/// Writes dx of some rows, and the last channels of it, or of the sum that holds it, apart.
template <class T>
void write_rows(const Args& args, const Rows& s, const GradientTail& tail, Range range,
                const GradientRows<T>& of, const GradientLine& by, std::int64_t pitch) {
  GradientPlace<T> to{args.out<T>(BatchNormGradOp::Out::dx) + range.begin * pitch, pitch,
                      tail.into.has_value()};
  if (tail.into && args.in<T>(*tail.into) + range.begin * pitch != to.dx) {
    std::copy_n(args.in<T>(*tail.into) + range.begin * pitch, range.size() * pitch, to.dx);
  }
  if (tail.piece == 0) return write_gradient(of, s.channels, by, to);
  constexpr std::int64_t kRows = 16;  // which are still in the L1 cache
  T* piece = args.out<T>(tail.piece_at) + range.begin * tail.piece;
  for (std::int64_t r = 0; r < range.size(); r += kRows) {
    const std::int64_t rows = std::min(kRows, range.size() - r);
    GradientRows<T> some = of;
    some.dy += r * s.channels;
    some.x.x += r * s.pitch;
    some.x.rows = rows;
    if (some.y != nullptr) some.y += r * s.channels;
    write_gradient(some, s.channels, by, to);
    for (std::int64_t i = 0; i < rows; ++i, to.dx += pitch, piece += tail.piece) {
      std::copy_n(to.dx + s.channels - tail.piece, tail.piece, piece);
    }
  }
}

/// Both sums by task, then all of them and what follows for a channel, then dx. The workspace has
/// the products of the tasks, their sums, then the lines by which dx follows, scale first.
template <class T>
std::optional<Kernel> prepare_gradient(const NodeView& node, const BatchNormGradAttrs& attrs,
                                       const GradientTail& tail) {
  using In = BatchNormGradOp::In;
  using Out = BatchNormGradOp::Out;
  const Rows s = rows_of(node.in(In::x), node.in(In::dy)[-1]);
  const std::int64_t pitch = node.out(Out::dx)[-1];
  const bool residual = attrs.residual;
  const float part = s.rows > 0 ? 1.0F / static_cast<float>(s.rows) : 0.0F;
  const int tasks = s.summing_tasks(1.5);
  const std::int64_t of_tasks = tasks * s.channels;
  const auto forward = [=](const Args& args, const float* scale) {
    return Normalization{.scale = scale, .shift = attrs.from_input ? args.in(In::beta) : nullptr};
  };
  Kernel kernel;
  kernel.alone = attrs.sync;
  kernel.workspace_bytes =
      s.bytes_of_channels(2 * tasks + 3) +
      sizeof(float) * static_cast<std::size_t>(sync_floats(attrs.sync, s.channels));
  kernel.scratch_bytes = s.bytes_of_channels(1);
  const auto scale_of = own_scale(s.channels, In::gamma, In::inv_std);
  kernel.stages.push_back(
      parallel(tasks, s.rows, [=](const Args& args, const Task& task, Range range) {
        float* products = args.work() + task.index * s.channels;
        float* sums = products + of_tasks;
        std::fill_n(products, s.channels, 0.0F);
        std::fill_n(sums, s.channels, 0.0F);
        T* dz = residual ? args.out<T>(Out::dresidual) + range.begin * s.channels : nullptr;
        const Normalization line = forward(args, attrs.from_input ? scale_of(args, task) : nullptr);
        add_gradient_sums(gradient_rows<T>(args, s, attrs, range, line), s.channels,
                          args.in(In::mean), products, sums, dz);
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
  if (attrs.sync) add_sync_stages(kernel, s, 2 * of_tasks);
  kernel.stages.push_back(by_rows_reversed(s, 1.6, [=](const Args& args, const Task&, Range range) {
    const float* scale = args.work() + 2 * of_tasks;
    const Normalization line = forward(args, scale);
    GradientRows<T> of = gradient_rows<T>(args, s, attrs, range, line);
    if (residual) {  // which has been masked
      of.dy = args.out<T>(Out::dresidual) + range.begin * s.channels;
      of.y = nullptr;
    }
    write_rows(args, s, tail, range, of,
               {args.in(In::mean), scale, scale + s.channels, scale + 2 * s.channels}, pitch);
  }));
  return kernel;
}

/// Returns the kernel for activations, x and y among them, that are all stored alike.
template <Prepare f32, Prepare bf16, std::size_t residual>
std::optional<Kernel> forward_as_stored(const NodeView& node) {
  const std::optional<Stored> stored = stored_alike(node, {kFirst, residual}, {kFirst});
  if (!stored) return std::nullopt;
  return stored->bf16() ? bf16(node) : f32(node);
}

/// Returns the gradient's kernel for activations that are all stored alike.
std::optional<Kernel> gradient_as_stored(const NodeView& node, const BatchNormGradAttrs& attrs,
                                         const GradientTail& tail) {
  using In = BatchNormGradOp::In;
  using Out = BatchNormGradOp::Out;
  const std::optional<Stored> stored =
      stored_alike(node,
                   {In::dy, In::x, attrs.from_input ? In::x : In::y, tail.into.value_or(In::x)},
                   {Out::dx, Out::dresidual});
  if (!stored) return std::nullopt;
  return stored->bf16() ? prepare_gradient<std::uint16_t>(node, attrs, tail)
                        : prepare_gradient<float>(node, attrs, tail);
}

std::optional<Kernel> gradient(const NodeView& node) {
  return gradient_as_stored(node, node.attrs<BatchNormGradOp>(), {});
}

/// Takes additions after the gradient alone, of all that the pass joins.
std::optional<Kernel> joined_gradient(const NodeView& node) {
  const BatchNormGradJoinedAttrs attrs = node.attrs<BatchNormGradJoinedOp>();
  if (attrs.summand || !attrs.into || attrs.residual) return std::nullopt;
  return gradient_as_stored(node, attrs.norm(),
                            {.into = attrs.into_at(),
                             .piece = attrs.piece,
                             .piece_at = attrs.piece_at()});
}

}  // namespace

void register_batch_norm(Registry& registry) {
  registry.add(BatchNormOp::kName,
               forward_as_stored<prepare_norm<float>, prepare_norm<std::uint16_t>,
                                 BatchNormOp::In::residual>,
               Stores::bf16);
  registry.add(BatchNormAgainOp::kName,
               forward_as_stored<prepare_again<float>, prepare_again<std::uint16_t>,
                                 BatchNormAgainOp::In::residual>,
               Stores::bf16);
  registry.add(BatchNormInferenceOp::kName,
               forward_as_stored<prepare_inference<float>, prepare_inference<std::uint16_t>,
                                 BatchNormOp::In::residual>,
               Stores::bf16);
  registry.add(BatchNormStatisticsOp::kName, prepare_statistics);
  registry.add(BatchNormGradOp::kName, gradient, Stores::bf16);
  registry.add(BatchNormGradJoinedOp::kName, joined_gradient, Stores::bf16);
}

}  // namespace linnet::cpu
