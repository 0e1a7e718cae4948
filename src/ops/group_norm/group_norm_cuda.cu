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
  /// Calls f(element of x, channel).
  template <class F>
  __device__ void at(std::int64_t j, F f) const {
    if constexpr (kOnePixel) {
      f(first + channel + j, channel + j);
    } else {
      const std::int64_t pixel = j / group_channels;
      const std::int64_t own = channel + (j - pixel * group_channels);
      f(first + pixel * channels + own, own);
    }
  }
};

/// A team takes a group of a row: its mean, then its variance, then y.
template <class Team, bool kOnePixel>
__global__ void forward_kernel(GroupNormShape s, float epsilon, const float* x, const float* weight,
                               const float* bias, float* y, float* means, float* inv_stds) {
  const std::int64_t count = s.pixels * (s.channels / s.groups);
  for_team_rows<Team>(s.rows * s.groups, count, [&](std::int64_t group, std::int64_t elements) {
    const Place<kOnePixel> place(s, group);
    float sum = 0;
    for_columns<Team>(elements, [&](std::int64_t j) {
      place.at(j, [&](std::int64_t i, std::int64_t /*c*/) { sum += x[i]; });
    });
    const float mean = team_sum<Team>(sum) / static_cast<float>(count);
    float squares = 0;
    for_columns<Team>(elements, [&](std::int64_t j) {
      place.at(j, [&](std::int64_t i, std::int64_t /*c*/) {
        squares += (x[i] - mean) * (x[i] - mean);
      });
    });
    const float variance = team_sum<Team>(squares) / static_cast<float>(count);
    const float inv_std = 1 / ::sqrtf(variance + epsilon);
    for_columns<Team>(elements, [&](std::int64_t j) {
      place.at(j, [&](std::int64_t i, std::int64_t c) {
        y[i] = (x[i] - mean) * (inv_std * weight[c]) + bias[c];
      });
    });
    if (elements > 0 && Team::lane() == 0) {
      means[group] = mean;
      inv_stds[group] = inv_std;
    }
  });
}

template <class Team, bool kOnePixel>
__global__ void dx_kernel(GroupNormShape s, const float* dy, const float* x, const float* weight,
                          const float* means, const float* inv_stds, float* dx) {
  const std::int64_t count = s.pixels * (s.channels / s.groups);
  for_team_rows<Team>(s.rows * s.groups, count, [&](std::int64_t group, std::int64_t elements) {
    const Place<kOnePixel> place(s, group);
    const float mean = elements > 0 ? means[group] : 0;
    const float inv_std = elements > 0 ? inv_stds[group] : 0;
    float sum = 0;
    float products = 0;
    for_columns<Team>(elements, [&](std::int64_t j) {
      place.at(j, [&](std::int64_t i, std::int64_t c) {
        const float weighted = dy[i] * weight[c];
        sum += weighted;
        products += weighted * ((x[i] - mean) * inv_std);
      });
    });
    const float constant = team_sum<Team>(sum) / static_cast<float>(count);
    const float factor = team_sum<Team>(products) / static_cast<float>(count);
    for_columns<Team>(elements, [&](std::int64_t j) {
      place.at(j, [&](std::int64_t i, std::int64_t c) {
        const float normalised = (x[i] - mean) * inv_std;
        dx[i] = inv_std * (dy[i] * weight[c] - constant - normalised * factor);
      });
    });
  });
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

std::optional<Kernel> prepare_forward(const NodeView& node, const Context& /*context*/) {
  using In = GroupNormOp::In;
  using Out = GroupNormOp::Out;
  const GroupNormAttrs attrs = node.attrs<GroupNormOp>();
  const GroupNormShape s = group_norm_shape(attrs, node.in(In::x));
  const auto epsilon = static_cast<float>(attrs.epsilon);
  if (s.rows == 0) return Kernel{.enqueue = [](const Args& /*args*/) {}};
  return with_team(s.count(), [&]<class Team>(Team /*team*/) {
    return Kernel{.enqueue = [=](const Args& args) {
      launch(args.stream, "group_norm", for_rows<Team>(s.rows * s.groups),
             s.pixels == 1 ? forward_kernel<Team, true> : forward_kernel<Team, false>, s, epsilon,
             args.in(In::x), args.in(In::weight), args.in(In::bias), args.out(Out::y),
             args.out(Out::mean), args.out(Out::inv_std));
    }};
  });
}

std::optional<Kernel> prepare_gradient(const NodeView& node, const Context& /*context*/) {
  using In = GroupNormGradOp::In;
  using Out = GroupNormGradOp::Out;
  const GroupNormShape s = group_norm_shape(node.attrs<GroupNormGradOp>().norm, node.in(In::x));
  const bool wants_dx = node.output_read[Out::dx] && s.rows > 0;
  const std::int64_t rows = s.rows * s.pixels;
  return with_team(s.count(), [&]<class Team>(Team /*team*/) {
    const auto enqueue = [=](const Args& args) {
      const float* dy = args.in(In::dy);
      const float* x = args.in(In::x);
      column_sum_of(args, "group_norm_grad",
                    WeightRows{s, dy, x, args.in(In::mean), args.in(In::inv_std),
                               vector_aligned(dy, x)},
                    rows, s.channels, args.out(Out::dweight), args.workspace, args.out(Out::dbias));
      // Last, since dx may take the place of dy or x.
      if (!wants_dx) return;
      launch(args.stream, "group_norm_grad", for_rows<Team>(s.rows * s.groups),
             s.pixels == 1 ? dx_kernel<Team, true> : dx_kernel<Team, false>, s, dy, x,
             args.in(In::weight), args.in(In::mean), args.in(In::inv_std), args.out(Out::dx));
    };
    return Kernel{.enqueue = enqueue,
                  .workspace_bytes = column_sums(rows, s.channels).partial_bytes(2)};
  });
}

}  // namespace

void register_group_norm(Registry& registry) {
  registry.add(GroupNormOp::kName, prepare_forward);
  registry.add(GroupNormGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cuda
