// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

LINNET_API_BEGIN
namespace linnet {

/// Element types. Sums are accumulated in f32 unless an operator says otherwise. f16, i64 and
/// boolean (a byte, 0 or 1) are types of Tensors alone: no operator computes in them.
enum class DType : std::uint8_t { f32, f64, bf16, u8, i32, f16, i64, boolean };

std::size_t size_of(DType dtype);
std::string_view to_string(DType dtype);
/// Throws Error for a name that is none of "f32", "f64", "bf16", "u8", "i32", "f16", "i64", "bool".
DType dtype_from_string(std::string_view name);

/// The dimensions of a dense row-major array; the last one is contiguous. Images are (N, H, W, C).
/// A value without memory of its own.
class Shape {
 public:
  static constexpr std::size_t kMostAxes = 8;

  Shape() = default;
  /// Throws Error for more than kMostAxes dimensions.
  Shape(std::initializer_list<std::int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const std::int64_t> dims);

  std::size_t rank() const { return rank_; }
  /// Negative indices count from the end: shape[-1] is the last dimension.
  std::int64_t operator[](int axis) const;
  std::int64_t elements() const;
  std::span<const std::int64_t> dims() const { return {dims_.data(), rank_}; }

  /// The same shape with its first dimension replaced (the batch).
  Shape with_batch(std::int64_t batch) const;
  /// The shape without its first dimension (one sample), and one with a dimension put before it.
  Shape sample() const;
  Shape batched(std::int64_t batch) const;

  bool operator==(const Shape&) const = default;

 private:
  std::array<std::int64_t, kMostAxes> dims_{};  ///< 0 from rank_ on
  std::size_t rank_ = 0;
};

/// "(128, 28, 28, 1)"
std::string to_string(const Shape& shape);

}  // namespace linnet
LINNET_API_END
