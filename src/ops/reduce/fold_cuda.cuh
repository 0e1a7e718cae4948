// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backend/cuda/kernel.h"
#include "backend/cuda/vectors.cuh"
#include "ops/reduce/fold.h"
#include "ops/reduce/layouts_cuda.h"

namespace linnet::cuda {

/// Every output from its elements, in an order that follows from the layout alone. F is
/// plain data:
///   State: plain data                          what is known of some of an output's elements
///   start(output) -> State                     of none
///   take(State&, float x, std::int64_t at)     one more, which is element `at` of the array
///   merge(State&, const State&)                those of another thread
///   finish(index, output, const State&)        of all; index is output + part * outputs
template <class F, int kWidth, bool kOneAxis, class T>
__global__ void fold_kernel(F f, const T* x, bool aligned, FoldLayout s) {
  using State = typename F::State;
  constexpr int kAhead = 4;  // loads in flight
  __shared__ State shared[kBlock * kWidth];
  const auto thread = static_cast<int>(threadIdx.x);
  const int slots = static_cast<int>(kBlock) / s.members;
  const int slot = s.in_rows ? thread / s.members : thread % slots;
  const int member = s.in_rows ? thread % s.members : thread / slots;
  const int spacing = s.in_rows ? 1 : slots;
  const int states = s.in_rows ? 1 : kWidth;
  const std::int64_t begin = s.elements * blockIdx.y / s.parts;
  const std::int64_t end = s.elements * (blockIdx.y + 1) / s.parts;

  for (std::int64_t tile = blockIdx.x; tile * slots < s.outputs; tile += gridDim.x) {
    const std::int64_t pack = tile * slots + slot;
    const bool active = pack < s.outputs;
    const std::int64_t output = s.in_rows ? pack : pack * kWidth;
    State state[kWidth] = {};
    if (active) {
      for (int w = 0; w < kWidth; ++w) state[w] = f.start(s.in_rows ? output : output + w);
      const std::int64_t base = s.kept.place(pack);
      const auto place = [&](std::int64_t e) {
        return base + (kOneAxis ? e * s.reduced.stride[0] : s.reduced.place(e));
      };
      std::int64_t e = begin + member;
      for (; e + (kAhead - 1) * s.members < end; e += kAhead * s.members) {
        std::int64_t at[kAhead];
        FloatVector<kWidth> some[kAhead];
        for (int k = 0; k < kAhead; ++k) {
          at[k] = place(e + k * s.members);
          some[k] = load_floats<kWidth>(x + at[k], aligned);
        }
        for (int k = 0; k < kAhead; ++k) {
          for (int w = 0; w < kWidth; ++w) f.take(state[w], some[k][w], at[k] + w);
        }
      }
      for (; e < end; e += s.members) {
        const FloatVector<kWidth> some = load_floats<kWidth>(x + place(e), aligned);
        for (int w = 0; w < kWidth; ++w) f.take(state[w], some[w], place(e) + w);
      }
      if (s.in_rows) {
        for (int w = 1; w < kWidth; ++w) f.merge(state[0], state[w]);
      }
    }
    if (s.members > 1) {
      __syncthreads();  // the last tile's states have been read
      for (int w = 0; w < kWidth; ++w) {
        if (w < states) shared[w * kBlock + thread] = state[w];
      }
    }
    for (int half = s.members / 2; half > 0; half /= 2) {
      __syncthreads();
      if (member >= half) continue;
      for (int w = 0; w < kWidth; ++w) {
        if (w >= states) continue;
        f.merge(state[w], shared[w * kBlock + thread + half * spacing]);
        shared[w * kBlock + thread] = state[w];
      }
    }
    if (!active || member > 0) continue;
    const std::int64_t part = blockIdx.y * s.outputs * states;
    for (int w = 0; w < kWidth; ++w) {
      if (w < states) f.finish(part + output + w, output + w, state[w]);
    }
  }
}

/// Launches a fold of `x`.
template <class F, class T>
void launch_fold(const Queue& stream, const char* name, const F& f, const T* x,
                 const FoldLayout& layout) {
  const auto kernel = [&] {
    const bool one = layout.reduced.count == 1;
    if (layout.width == 4) return one ? fold_kernel<F, 4, true, T> : fold_kernel<F, 4, false, T>;
    return one ? fold_kernel<F, 1, true, T> : fold_kernel<F, 1, false, T>;
  }();
  LaunchShape shape = for_items((layout.outputs + layout.slots() - 1) / layout.slots() * kBlock);
  shape.grid.y = layout.parts;
  launch(stream, name, shape, kernel, f, x, vector_aligned(x), layout);
}

/// y[output] = scale * the fold by Op: fold::Sum, Max or Min.
template <class Op, class T>
struct FoldTo {
  using State = float;
  T* y;
  float scale;

  __device__ State start(std::int64_t) const { return Op::kIdentity; }
  __device__ void take(State& total, float x, std::int64_t) const { total = Op::apply(total, x); }
  __device__ void merge(State& total, State other) const { total = Op::apply(total, other); }
  __device__ void finish(std::int64_t index, std::int64_t, State total) const {
    y[index] = stored_as<T>(total * scale);
  }
};

/// Returns a node's kernel: y = scale * the fold of x, stored as T. One launch, or two with parts
/// in the workspace where outputs are few.
template <class Op, class T = float>
std::optional<Kernel> fold_of_input(const char* name, const std::vector<ReduceGroup>& groups,
                                    float scale) {
  const std::optional<FoldLayout> layout = fold_layout(groups, true);
  if (!layout) return std::nullopt;
  const std::int64_t parts = layout->parts;
  const std::int64_t outputs = layout->single_outputs();
  if (parts == 1) {
    return Kernel{.enqueue = [=](const Args& args) {
      launch_fold(args.stream, name, FoldTo<Op, T>{args.out<T>(kFirst), scale}, args.in<T>(kFirst),
                  *layout);
    }};
  }
  const auto rest = fold_layout({{outputs, 1, false}, {parts, outputs, true}});
  const auto enqueue = [=](const Args& args) {
    float* partial = args.work();
    launch_fold(args.stream, name, FoldTo<Op, float>{partial, 1}, args.in<T>(kFirst), *layout);
    launch_fold(args.stream, name, FoldTo<Op, T>{args.out<T>(kFirst), scale}, partial, *rest);
  };
  return Kernel{.enqueue = enqueue,
                .workspace_bytes = sizeof(float) * static_cast<std::size_t>(parts * outputs)};
}

}  // namespace linnet::cuda
