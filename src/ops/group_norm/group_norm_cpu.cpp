// SPDX-License-Identifier: Apache-2.0
#include "ops/group_norm/group_norm_cpu.h"

#include <cmath>

#include "backend/cpu/partial_sums.h"

namespace linnet::cpu {
namespace {

/// Returns how many pixels are added up in f32 before a wider sum takes them: more of few channels,
/// of which several pixels are added beside each other.
std::int64_t pixels_of_block(std::int64_t channels) {
  return std::max<std::int64_t>(64, 4096 / std::max<std::int64_t>(channels, 1));
}

constexpr double kForwardCost = 0.3;  // nanoseconds of one core for an element
constexpr double kGradientCost = 0.5;

double row_cost(const GroupNormShape& s, double cost) {
  return cost * static_cast<double>(s.pixels * s.channels);
}

/// Returns the sum of n floats in a fixed order that vector instructions can follow.
double sum_of(const float* values, std::int64_t n) {
  constexpr std::int64_t kLanes = 16;
  float lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += values[i + lane];
  }
  double sum = 0;
  for (float lane : lanes) sum += lane;
  for (; i < n; ++i) sum += values[i];
  return sum;
}

/// Arrays of a thread, each with an element a channel.
struct Scratch {
  float* base;
  std::int64_t channels;
  float* operator[](std::int64_t i) const { return base + i * channels; }
};

/// results[g] += the sum of the group's channels of `sums`.
void add_groups(const GroupNormShape& s, const float* sums, double* results) {
  for (std::int64_t g = 0; g < s.groups; ++g) {
    results[g] += sum_of(sums + g * s.group_channels(), s.group_channels());
  }
}

/// Gives every channel its group's value.
void spread(const GroupNormShape& s, const float* of_groups, float* of_channels) {
  for (std::int64_t g = 0; g < s.groups; ++g) {
    std::fill_n(of_channels + g * s.group_channels(), s.group_channels(), of_groups[g]);
  }
}

/// Mean and 1 / sqrt(variance + epsilon) of a row's groups, in two passes. Uses scratch 0 and 1 and
/// leaves the channels' means in 1.
void row_statistics(const GroupNormShape& s, double epsilon, const float* x, Scratch scratch,
                    double* totals, float* mean, float* inv_std) {
  float* sums = scratch[0];
  float* means = scratch[1];
  const std::int64_t block = pixels_of_block(s.channels);
  const auto add_up = [&](bool squared) {
    std::fill_n(totals, s.groups, 0.0);
    for (std::int64_t first = 0; first < s.pixels; first += block) {
      channel_sums(x + first * s.channels, std::min(block, s.pixels - first), s.channels, means,
                   squared, sums);
      add_groups(s, sums, totals);
    }
  };
  const auto count = static_cast<double>(s.count());
  std::fill_n(means, s.channels, 0.0F);
  add_up(false);
  for (std::int64_t g = 0; g < s.groups; ++g) mean[g] = static_cast<float>(totals[g] / count);
  spread(s, mean, means);
  add_up(true);
  for (std::int64_t g = 0; g < s.groups; ++g) {
    inv_std[g] = static_cast<float>(1 / std::sqrt(totals[g] / count + epsilon));
  }
}

std::optional<Kernel> prepare_forward(const NodeView& node) {
  using In = GroupNormOp::In;
  using Out = GroupNormOp::Out;
  const GroupNormAttrs attrs = node.attrs<GroupNormOp>();
  const GroupNormShape s = group_norm_shape(attrs, node.in(In::x));
  const int tasks = tasks_for(s.rows, row_cost(s, kForwardCost));
  Kernel kernel;
  // First the groups' doubles, so that they are aligned.
  const auto group_bytes = sizeof(double) * static_cast<std::size_t>(s.groups);
  kernel.scratch_bytes = group_bytes + sizeof(float) * static_cast<std::size_t>(3 * s.channels);
  kernel.stages.push_back(
      parallel(tasks, s.rows, [=](const Args& args, const Task& task, Range rows) {
        auto* totals = reinterpret_cast<double*>(task.scratch);
        const Scratch scratch{reinterpret_cast<float*>(task.scratch + group_bytes), s.channels};
        const float* means = scratch[1];
        float* scales = scratch[2];
        const float* weight = args.in(In::weight);
        const float* bias = args.in(In::bias);
        if (s.pixels == 1) {
          const std::int64_t first = rows.begin * s.channels;
          norm_rows(s, attrs.epsilon, rows.size(), args.in(In::x) + first, weight, bias,
                    args.out(Out::y) + first, args.out(Out::mean) + rows.begin * s.groups,
                    args.out(Out::inv_std) + rows.begin * s.groups);
          return;
        }
        for (std::int64_t r = rows.begin; r < rows.end; ++r) {
          const float* x = args.in(In::x) + r * s.pixels * s.channels;
          float* y = args.out(Out::y) + r * s.pixels * s.channels;
          float* inv_std = args.out(Out::inv_std) + r * s.groups;
          row_statistics(s, attrs.epsilon, x, scratch, totals, args.out(Out::mean) + r * s.groups,
                         inv_std);
          spread(s, inv_std, scales);
          for (std::int64_t c = 0; c < s.channels; ++c) scales[c] *= weight[c];
          scale_channels(x, s.pixels, s.channels, means, scales, bias, y);
        }
      }));
  return kernel;
}

/// The sums of dy and of dy times x's normalised value over a row's pixels, by channel.
void add_up_row(const GroupNormShape& s, const float* dy, const float* x, const NormChannels& of,
                float* dy_sums, float* products) {
  std::fill_n(dy_sums, s.channels, 0.0F);
  std::fill_n(products, s.channels, 0.0F);
  const std::int64_t block = pixels_of_block(s.channels);
  for (std::int64_t first = 0; first < s.pixels; first += block) {
    channel_gradient_sums(dy + first * s.channels, x + first * s.channels,
                          std::min(block, s.pixels - first), s.channels, of, dy_sums, products);
  }
}

/// coefficients[c] = the mean over c's group of weight * sums.
void group_means(const GroupNormShape& s, const float* weight, const float* sums,
                 float* coefficients) {
  for (std::int64_t c = 0; c < s.channels; ++c) coefficients[c] = weight[c] * sums[c];
  for (std::int64_t g = 0; g < s.groups; ++g) {
    float* group = coefficients + g * s.group_channels();
    const double mean = sum_of(group, s.group_channels()) / static_cast<double>(s.count());
    std::fill_n(group, s.group_channels(), static_cast<float>(mean));
  }
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  using In = GroupNormGradOp::In;
  using Out = GroupNormGradOp::Out;
  const GroupNormShape s = group_norm_shape(node.attrs<GroupNormGradOp>().norm, node.in(In::x));
  const int tasks = partial_tasks(s.rows, row_cost(s, kGradientCost), 2 * s.channels);
  const bool wants_dx = node.output_read[Out::dx];
  Kernel kernel;
  kernel.scratch_bytes = sizeof(float) * static_cast<std::size_t>(6 * s.channels);
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(2 * tasks * s.channels);
  kernel.stages.push_back(
      parallel(tasks, s.rows, [=](const Args& args, const Task& task, Range rows) {
        const Scratch scratch{reinterpret_cast<float*>(task.scratch), s.channels};
        float* means = scratch[2];
        float* inv_stds = scratch[3];
        float* dy_sums = scratch[4];
        float* products = scratch[5];
        const float* weight = args.in(In::weight);
        float* weight_sums = args.work() + task.index * s.channels;
        float* bias_sums = args.work() + (tasks + task.index) * s.channels;
        std::fill_n(weight_sums, s.channels, 0.0F);
        std::fill_n(bias_sums, s.channels, 0.0F);
        if (s.pixels == 1) {
          const std::int64_t begin = rows.begin * s.channels;
          norm_rows_gradient(s, rows.size(), args.in(In::dy) + begin, args.in(In::x) + begin,
                             weight, args.in(In::mean) + rows.begin * s.groups,
                             args.in(In::inv_std) + rows.begin * s.groups,
                             wants_dx ? args.out(Out::dx) + begin : nullptr, weight_sums,
                             bias_sums);
          return;
        }
        for (std::int64_t r = rows.begin; r < rows.end; ++r) {
          const std::int64_t first = r * s.pixels * s.channels;
          const float* dy = args.in(In::dy) + first;
          const float* x = args.in(In::x) + first;
          float* dx = args.out(Out::dx) + first;
          spread(s, args.in(In::mean) + r * s.groups, means);
          spread(s, args.in(In::inv_std) + r * s.groups, inv_stds);
          const NormChannels of{means, inv_stds};
          add_up_row(s, dy, x, of, dy_sums, products);
          for (std::int64_t c = 0; c < s.channels; ++c) {
            weight_sums[c] += products[c];
            bias_sums[c] += dy_sums[c];
          }
          if (!wants_dx) continue;
          float* constant = scratch[0];
          float* factor = scratch[1];
          group_means(s, weight, dy_sums, constant);
          group_means(s, weight, products, factor);
          channel_gradients(dy, x, s.pixels, s.channels, of, weight, constant, factor, dx);
        }
      }));
  kernel.stages.push_back(parallel(1, [=](const Args& args) {
    const Range all{0, s.channels};
    add_partials(args.work(), tasks, s.channels, all, args.out(Out::dweight));
    add_partials(args.work() + tasks * s.channels, tasks, s.channels, all, args.out(Out::dbias));
  }));
  return kernel;
}

}  // namespace

void register_group_norm(Registry& registry) {
  registry.add(GroupNormOp::kName, prepare_forward);
  registry.add(GroupNormGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cpu
