// SPDX-License-Identifier: Apache-2.0
#pragma once

// Kernels over the rows of a matrix: a team of threads takes a row.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "backend/cuda/device.cuh"

namespace linnet::cuda {

/// kLanes neighbouring lanes of a warp, a power of two.
template <unsigned kLanes>
struct WarpTeam {
  static constexpr unsigned kThreads = kLanes;
  __device__ static unsigned lane() { return threadIdx.x % kLanes; }
  /// Pairwise combination over the team, in a fixed order, in every lane. `combine` must not care
  /// which operand comes first.
  template <class T, class F>
  __device__ static T reduce(T value, F combine) {
    for (unsigned step = kLanes / 2; step > 0; step /= 2) {
      value = combine(value, __shfl_xor_sync(kFullWarp, value, static_cast<int>(step)));
    }
    return value;
  }
};

/// A whole block of kBlock threads.
struct BlockTeam {
  static constexpr unsigned kThreads = kBlock;
  __device__ static unsigned lane() { return threadIdx.x; }
  template <class T, class F>
  __device__ static T reduce(T value, F combine) {
    __shared__ T of_warps[kBlock / kWarp];
    value = WarpTeam<kWarp>::reduce(value, combine);
    __syncthreads();  // the last call's values have been read
    if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = value;
    __syncthreads();
    return WarpTeam<kBlock / kWarp>::reduce(of_warps[threadIdx.x % (kBlock / kWarp)], combine);
  }
};

template <class Team>
__device__ inline float team_sum(Team /*team*/, float value) {
  return Team::reduce(value, [](float a, float b) { return a + b; });
}
/// NaNs are passed over.
template <class Team>
__device__ inline float team_max(Team /*team*/, float value) {
  return Team::reduce(value, [](float a, float b) { return ::fmaxf(a, b); });
}

/// Calls f(team, row, columns) with every row of the team; all teams of a block call f equally
/// often, with no columns where the rows are used up, so f may use the team's reductions.
template <class Team, class F>
__device__ inline void for_team_rows(std::int64_t rows, std::int64_t columns, F f) {
  const std::int64_t teams = blockDim.x / Team::kThreads;
  const std::int64_t own = threadIdx.x / Team::kThreads;
  for (std::int64_t first = blockIdx.x * teams; first < rows; first += gridDim.x * teams) {
    const std::int64_t row = first + own;
    const bool exists = row < rows;
    f(Team{}, exists ? row : 0, exists ? columns : 0);
  }
}

/// Calls f(c) for the columns of this lane.
template <class Team, class F>
__device__ inline void for_columns(Team /*team*/, std::int64_t columns, F f) {
  for (std::int64_t c = Team::lane(); c < columns; c += Team::kThreads) f(c);
}

/// Returns the largest of a row, from its lanes' elements; a NaN among them is found by exp_sum.
template <class Team>
__device__ inline float row_max(Team team, const float* x, std::int64_t columns) {
  float top = -std::numeric_limits<float>::infinity();
  for_columns(team, columns, [&](std::int64_t c) { top = ::fmaxf(top, x[c]); });
  return team_max(team, top);
}

/// sum(exp(x - top))
template <class Team>
__device__ inline float exp_sum(Team team, const float* x, std::int64_t columns, float top) {
  float sum = 0;
  for_columns(team, columns, [&](std::int64_t c) { sum += ::expf(x[c] - top); });
  return team_sum(team, sum);
}

/// Calls f with the team that suits a row's length, as a value of the team's type.
template <class F>
auto with_team(std::int64_t columns, F f) {
  if (columns <= 16) return f(WarpTeam<4>{});
  if (columns <= 2048) return f(WarpTeam<kWarp>{});
  return f(BlockTeam{});
}

template <class F, class Team>
__global__ void rows_kernel(F f, std::int64_t rows, std::int64_t columns) {
  for_team_rows<Team>(rows, columns, f);
}

/// Launches f(team, row, columns) for all rows as for_team_rows() calls it, one a team.
template <class F>
void each_row(const Queue& stream, const char* name, std::int64_t rows, std::int64_t columns, F f) {
  with_team(columns, [&](auto team) {
    using Team = decltype(team);
    launch(stream, name, for_items(rows * Team::kThreads), rows_kernel<F, Team>, f, rows, columns);
  });
}

/// For __launch_bounds__ of what for_row_sums() launches.
inline constexpr unsigned kLargeBlock = 1024;

/// For sums over all rows: one large block where it is done in a moment, so that no second stage is
/// needed, else up to kBlock * 4 blocks. Follows from the shape alone.
template <class Team>
LaunchShape for_row_sums(std::int64_t rows, std::int64_t columns) {
  if (Team::kThreads <= kWarp && rows <= 4 * kLargeBlock / Team::kThreads &&
      columns <= 8 * Team::kThreads) {
    const std::int64_t warps = (rows * Team::kThreads + kWarp - 1) / kWarp;
    return {.block =
                static_cast<unsigned>(std::clamp<std::int64_t>(warps * kWarp, kWarp, kLargeBlock))};
  }
  LaunchShape shape = for_items(rows * Team::kThreads);
  shape.grid.x = std::clamp(shape.grid.x, 1U, 4 * kBlock);
  return shape;
}

}  // namespace linnet::cuda
