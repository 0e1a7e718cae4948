// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backend/cuda/kernel.h"

namespace linnet::cuda {

/// A matrix without gaps that a library wants in 16 bits, perhaps with zeros to the right and
/// below.
struct HalfOperand {
  DType type = DType::f32;  ///< as it is stored: f32, or what the library wants
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t padded_rows = 0;
  std::int64_t padded_columns = 0;

  constexpr bool is_padded() const { return rows != padded_rows || columns != padded_columns; }
  constexpr bool as_it_is() const { return type != DType::f32 && !is_padded(); }
  constexpr std::int64_t padded_elements() const { return padded_rows * padded_columns; }
};

/// A node's first operands, two or three: as they are stored, or copied to the workspace in one
/// launch.
class HalfOperands {
 public:
  static constexpr std::size_t kMost = 3;
  /// half: what the library wants, Context::half().
  HalfOperands(DType half, const std::vector<HalfOperand>& operands);
  /// Returns what the copies take of the workspace, a multiple of kLibraryAlignment.
  std::size_t bytes() const { return bytes_; }
  /// Replaces the addresses of what is copied by those of the copies.
  void place(std::byte* copies, std::span<void*> places) const;
  /// Enqueues copies of inputs to `to`; returns where they are.
  std::array<void*, kMost> enqueue(const Args& args, std::byte* to) const;

 private:
  DType half_;
  std::vector<HalfOperand> operands_;
  std::array<std::size_t, kMost> starts_{};
  std::size_t bytes_ = 0;
};

/// Returns the least multiple of 8 that is not less: tensor cores want rows of 16-bit numbers to
/// begin at multiples of 16 bytes.
constexpr std::int64_t padded_to_eight(std::int64_t size) { return (size + 7) / 8 * 8; }

/// Returns Linnet's own f32 kernel of a product, `own`, also for operands and a result that are
/// stored in 16 bits: operands 0 and 1 are then rounded to these and widened to the workspace, and
/// the result is rounded. Null where nothing but weights, operand 1, would have 16 bits: f32 ones
/// need no copies.
std::optional<Kernel> through_f32(const NodeView& node, const Context& context, Prepare own,
                                  bool weights);

/// Returns an engine's kernel of a product whose weights, operand 1, and bias, operand 2, stay as
/// they are: rounded once (Kernel::pack) instead of in every run, where it takes them in 16 bits.
/// Else its kernel of the node.
std::optional<Kernel> with_packed_weights(const NodeView& node, const Context& context,
                                          Prepare engine);

}  // namespace linnet::cuda
