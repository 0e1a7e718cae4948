// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace linnet {

/// Element types. Sums are accumulated in f32 unless an operator says otherwise.
enum class DType : std::uint8_t { f32, f64, bf16, u8, i32 };

std::size_t size_of(DType dtype);
std::string_view to_string(DType dtype);
/// Throws Error for a name that is none of "f32", "f64", "bf16", "u8", "i32".
DType dtype_from_string(std::string_view name);

/// The extents of a dense row-major array; the last dimension is contiguous. Images are (N, H, W,
/// C).
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) : dims_(dims) {}
  explicit Shape(std::vector<std::int64_t> dims) : dims_(std::move(dims)) {}

  std::size_t rank() const { return dims_.size(); }
  /// Negative indices count from the end: shape[-1] is the last extent.
  std::int64_t operator[](int axis) const;
  std::int64_t elements() const;
  const std::vector<std::int64_t>& dims() const { return dims_; }

  /// The same shape with its first extent replaced (the batch).
  Shape with_batch(std::int64_t batch) const;
  /// The shape without its first extent (one sample), and one with an extent put before it.
  Shape sample() const;
  Shape batched(std::int64_t batch) const;

  bool operator==(const Shape&) const = default;

 private:
  std::vector<std::int64_t> dims_;
};

/// "(128, 28, 28, 1)"
std::string to_string(const Shape& shape);

}  // namespace linnet
