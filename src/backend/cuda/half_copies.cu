// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/half_copies.h"

#include "backend/cuda/element_wise.cuh"

namespace linnet::cuda {
namespace {

/// Four neighbours of a row.
template <class T, class From>
__device__ void make_four(const HalfCopy& copy, std::int64_t item, const From* data) {
  const HalfOperand& shape = copy.shape;
  const std::int64_t row = 4 * item / shape.padded_columns;
  const std::int64_t column = 4 * item - row * shape.padded_columns;
  const From* at = data + row * shape.columns + column;
  FloatVector<4> four;
  for (int v = 0; v < 4; ++v) {
    const bool inside = row < shape.rows && column + v < shape.columns;
    four[v] = inside ? to_float(at[v]) : 0.0F;
  }
  store_floats(static_cast<T*>(copy.to) + 4 * item, four);
}

template <class T>
__device__ void make_four(const HalfCopy& copy, std::int64_t item) {
  if (copy.shape.type == DType::f32) {
    make_four<T>(copy, item, static_cast<const float*>(copy.from));
  } else {
    make_four<T>(copy, item, static_cast<const T*>(copy.from));
  }
}

template <class T>
__global__ void copy_kernel(HalfCopy first, HalfCopy second, HalfCopy third) {
  const std::int64_t of_first = first.items();
  const std::int64_t of_two = of_first + second.items();
  for (std::int64_t i = first_item(); i < of_two + third.items(); i += grid_stride()) {
    if (i < of_first) {
      make_four<T>(first, i);
    } else if (i < of_two) {
      make_four<T>(second, i - of_first);
    } else {
      make_four<T>(third, i - of_two);
    }
  }
}

struct Same {
  __device__ float operator()(float x) const { return x; }
};

template <class T>
struct Rounded {
  __device__ float operator()(float x) const { return to_float(stored_as<T>(x)); }
};

}  // namespace

void copy_to_half(const Queue& stream, DType half,
                  const std::array<HalfCopy, HalfOperands::kMost>& copies) {
  std::int64_t fours = 0;
  for (const HalfCopy& copy : copies) fours += copy.items();
  with_half(half, [&]<class T>() {
    launch(stream, "copy_to_half", for_items(fours), copy_kernel<T>, copies[0], copies[1],
           copies[2]);
  });
}

void widen_half(const Queue& stream, DType half, std::int64_t elements, float* to,
                const void* from) {
  with_half(half, [&]<class T>() {
    map_elements(stream, "widen_half", Same{}, elements, to, static_cast<const T*>(from));
  });
}

void round_to_half(const Queue& stream, DType half, std::int64_t elements, void* to,
                   const float* from) {
  with_half(half, [&]<class T>() {
    map_elements(stream, "round_to_half", Same{}, elements, static_cast<T*>(to), from);
  });
}

void round_as_half(const Queue& stream, DType half, std::int64_t elements, float* to,
                   const float* from) {
  with_half(half, [&]<class T>() {
    map_elements(stream, "round_to_half", Rounded<T>{}, elements, to, from);
  });
}

}  // namespace linnet::cuda
