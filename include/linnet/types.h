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

/// Names an element type. Sums are accumulated in f32 unless an operator says otherwise. f64, f16,
/// i64 and boolean (a byte, 0 or 1) exist in Tensors only: no operator computes in them.
enum class DType : std::uint8_t { f32, f64, bf16, u8, i32, f16, i64, boolean };

/// Returns the bytes of one element.
std::size_t size_of(DType dtype);
/// Returns the type's name, e.g. "f32"; boolean is "bool".
std::string_view to_string(DType dtype);
/// Returns the type that has this name. Throws Error unless it is "f32", "f64", "bf16", "u8",
/// "i32", "f16", "i64" or "bool".
DType dtype_from_string(std::string_view name);

/// Holds the dims of a dense row-major array; the last one is contiguous. Images are (N, H, W, C).
/// A value: it allocates nothing. `const` functions may be called from several threads at once.
class Shape {
 public:
  /// Maximum number of dims.
  static constexpr std::size_t kMostAxes = 8;

  /// Makes the shape () of a single element.
  Shape() = default;
  /// Makes a shape of these dims, e.g. {28, 28, 1}. Throws Error for more than kMostAxes.
  Shape(std::initializer_list<std::int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  /// Makes a shape of these dims. Throws Error for more than kMostAxes.
  explicit Shape(std::span<const std::int64_t> dims);

  /// Returns the number of dims.
  std::size_t rank() const { return rank_; }
  /// Returns one dim. Negative indices count from the end: shape[-1] is the last dim. Throws
  /// InternalError for an axis outside the shape.
  std::int64_t operator[](int axis) const;
  /// Returns the product of the dims; 1 for the shape (). Throws Error where it exceeds 2^63 - 1.
  std::int64_t elements() const;
  /// Returns all dims, which live as long as the shape.
  std::span<const std::int64_t> dims() const { return {dims_.data(), rank_}; }

  /// Returns the same shape with its first dim replaced by `batch`. Throws InternalError for the
  /// shape ().
  Shape with_batch(std::int64_t batch) const;
  /// Returns the shape without its first dim: the shape of one sample of a batch. Throws
  /// InternalError for the shape ().
  Shape sample() const;
  /// Returns the shape with `batch` put before its dims.
  Shape batched(std::int64_t batch) const;

  /// Returns whether both have the same dims.
  bool operator==(const Shape&) const = default;

 private:
  std::array<std::int64_t, kMostAxes> dims_{};  ///< 0 from rank_ on
  std::size_t rank_ = 0;
};

/// Returns a text such as "(128, 28, 28, 1)".
std::string to_string(const Shape& shape);

}  // namespace linnet
LINNET_API_END
