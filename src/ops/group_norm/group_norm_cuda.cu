// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/column_sum.cuh"
#include "backend/cuda/kernel.h"
#include "ops/group_norm/group_norm.h"
#include "ops/softmax/row_teams_cuda.cuh"

namespace linnet::cuda {
namespace {

/// Describes where a group of a row lies: element j is pixel j / group_channels.
template <bool kOnePixel>
struct Place {
  std::int64_t first;    ///< of its elements in x
  std::int64_t channel;  ///< its first one
  std::int64_t channels;
  unsigned group_channels;

  __device__ Place(const GroupNormShape& s, std::int64_t group)
      : first(group / s.groups * s.pixels * s.channels),
        channel(group % s.groups * (s.channels / s.groups)),
        channels(s.channels),
        group_channels(static_cast<unsigned>(s.channels / s.groups)) {}
  /// Calls f(element of x, channel) for the elements of this lane.
  template <class Team, class F>
  __device__ void for_elements(Team team, std::int64_t elements, F f) const {
    for_columns(team, elements, [&](std::int64_t j) {
      if constexpr (kOnePixel) {
        f(first + channel + j, channel + j);
      } else {
        const std::int64_t pixel = j / group_channels;
        const std::int64_t own = channel + (j - pixel * group_channels);
        f(first + pixel * channels + own, own);
      }
    });
  }
};

/// A team takes a group of a row: its mean, then its variance, then y.
template <bool kOnePixel>
void launch_forward(const Args& args, const GroupNormShape& s, float epsilon) {
  using In = GroupNormOp::In;
  using Out = GroupNormOp::Out;
  const auto normalise = [=, x = args.in(In::x), weight = args.in(In::weight),
                          bias = args.in(In::bias), y = args.out(Out::y),
                          means = args.out(Out::mean),
                          inv_stds = args.out(Out::inv_std)] __device__(auto team,
                                                                        std::int64_t group,
                                                                        std::int64_t elements) {
    const std::int64_t count = s.pixels * (s.channels / s.groups);
    const Place<kOnePixel> place(s, group);
    float sum = 0;
    place.for_elements(team, elements, [&](std::int64_t i, std::int64_t /*c*/) { sum += x[i]; });
    const float mean = team_sum(team, sum) / static_cast<float>(count);
    float squares = 0;
    place.for_elements(team, elements, [&](std::int64_t i, std::int64_t /*c*/) {
      squares += (x[i] - mean) * (x[i] - mean);
    });
    const float variance = team_sum(team, squares) / static_cast<float>(count);
    const float inv_std = 1 / ::sqrtf(variance + epsilon);
    place.for_elements(team, elements, [&](std::int64_t i, std::int64_t c) {
      y[i] = (x[i] - mean) * (inv_std * weight[c]) + bias[c];
    });
    if (elements > 0 && team.lane() == 0) {
      means[group] = mean;
      inv_stds[group] = inv_std;
    }
  };
  each_row(args.stream, "group_norm", s.rows * s.groups, s.count(), normalise);
}

template <bool kOnePixel>
void launch_dx(const Args& args, const GroupNormShape& s) {
  using In = GroupNormGradOp::In;
  const auto dx_of = [=, dy = args.in(In::dy), x = args.in(In::x), weight = args.in(In::weight),
                      means = args.in(In::mean), inv_stds = args.in(In::inv_std),
                      dx = args.out(GroupNormGradOp::Out::dx)] __device__(auto team,
                                                                          std::int64_t group,
                                                                          std::int64_t elements) {
    const std::int64_t count = s.pixels * (s.channels / s.groups);
    const Place<kOnePixel> place(s, group);
    const float mean = elements > 0 ? means[group] : 0;
    const float inv_std = elements > 0 ? inv_stds[group] : 0;
    float sum = 0;
    float products = 0;
    place.for_elements(team, elements, [&](std::int64_t i, std::int64_t c) {
      const float weighted = dy[i] * weight[c];
      sum += weighted;
      products += weighted * ((x[i] - mean) * inv_std);
    });
    const float constant = team_sum(team, sum) / static_cast<float>(count);
    const float factor = team_sum(team, products) / static_cast<float>(count);
    place.for_elements(team, elements, [&](std::int64_t i, std::int64_t c) {
      const float normalised = (x[i] - mean) * inv_std;
      dx[i] = inv_std * (dy[i] * weight[c] - constant - normalised * factor);
    });
  };
  each_row(args.stream, "group_norm_grad", s.rows * s.groups, s.count(), dx_of);
}

/// Rows of all pixels, for the gradients of weight and bias (column_sum.cuh).
struct WeightRows {
  static constexpr int kSums = 2;
  GroupNormShape s;
  const float* dy;
  const float* x;
  const float* means;
  const float* inv_stds;
  bool aligned;

  template <int kVector>
  struct Loaded {
    FloatVector<kVector> dy, x;
  };
  template <int kVector>
  __device__ Loaded<kVector> load(std::int64_t r, std::int64_t c) const {
    const std::int64_t at = r * s.channels + c;
    return {load_vector<kVector>(dy + at, aligned), load_vector<kVector>(x + at, aligned)};
  }
  template <int kVector>
  __device__ void add(const Loaded<kVector>& row, std::int64_t r, std::int64_t c,
                      FloatVector<kVector>& weight, FloatVector<kVector>& bias) const {
    for (int v = 0; v < kVector; ++v) {
      const std::int64_t of = r / s.pixels * s.groups + (c + v) / (s.channels / s.groups);
      weight[v] += row.dy[v] * ((row.x[v] - means[of]) * inv_stds[of]);
      bias[v] += row.dy[v];
    }
  }
};

std::optional<Kernel> prepare_group_norm(const NodeView& node, const Context& /*context*/) {
  const GroupNormAttrs attrs = node.attrs<GroupNormOp>();
  const GroupNormShape s = group_norm_shape(attrs, node.in(GroupNormOp::In::x));
  return Kernel{.enqueue = [=, epsilon = static_cast<float>(attrs.epsilon)](const Args& args) {
    s.pixels == 1 ? launch_forward<true>(args, s, epsilon)
                  : launch_forward<false>(args, s, epsilon);
  }};
}

std::optional<Kernel> prepare_group_norm_grad(const NodeView& node, const Context& /*context*/) {
  using In = GroupNormGradOp::In;
  using Out = GroupNormGradOp::Out;
  const GroupNormShape s = group_norm_shape(node.attrs<GroupNormGradOp>().norm, node.in(In::x));
  const bool wants_dx = node.output_read[Out::dx];
  const ColumnTiles sums = column_sums(s.rows * s.pixels, s.channels);
  const auto enqueue = [=](const Args& args) {
    const float* dy = args.in(In::dy);
    const float* x = args.in(In::x);
    column_sum_of(args, "group_norm_grad",
                  WeightRows{s, dy, x, args.in(In::mean), args.in(In::inv_std),
                             vector_aligned(dy, x)},
                  sums, args.out(Out::dweight), args.workspace, args.out(Out::dbias));
    // Last, since dx may take the place of dy or x.
    if (wants_dx) s.pixels == 1 ? launch_dx<true>(args, s) : launch_dx<false>(args, s);
  };
  return Kernel{.enqueue = enqueue, .workspace_bytes = sums.partial_bytes(2)};
}

}  // namespace

void register_group_norm(Registry& registry) {
  registry.add(GroupNormOp::kName, prepare_group_norm);
  registry.add(GroupNormGradOp::kName, prepare_group_norm_grad);
}

}  // namespace linnet::cuda
