// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/memory.h"

namespace linnet {

/// Says where a value lives. All but `arena` outlast a step.
enum class Storage : std::uint8_t {
  arena,      ///< between operators of one step; its offset is the planner's
  external,   ///< the caller's memory, bound by slot: data sets, labels, inputs, outputs
  constant,   ///< filled once with what ValueInfo says
  parameter,  ///< the flat arena of trainable weights
  gradient,   ///< the flat arena of their gradients, laid out like `parameter`
  optimizer,  ///< moments, one flat arena after the other
  state,      ///< running statistics, metrics, counters
};
inline constexpr std::size_t kStorages = 7;
std::string_view to_string(Storage storage);

/// Maximum bytes of one value: the address space of today's processors.
inline constexpr std::size_t kMostBytes = most_bytes(47);

/// An element type and a static shape.
struct ValueType {
  DType dtype = DType::f32;
  Shape shape;

  /// Throws Error for a negative dimension, and for more than kMostBytes.
  std::size_t bytes() const;
  bool operator==(const ValueType&) const = default;
};

/// Throws Error for a type that no value of a graph may have: see bytes().
void require_possible(const ValueType& type);
/// Throws Error "expected f32 operands; got f32 (8, 3), i32 (5, 3)" unless all are f32.
void require_f32(std::span<const ValueType> types);

/// Returns text such as "f32 (128, 28, 28, 1)"
std::string to_string(const ValueType& type);
/// Returns text such as "x=(128, 28, 28, 1), w=(16, 3, 3, 1)", for errors.
std::string to_string(const std::vector<std::string>& names, const std::vector<ValueType>& types);

/// A handle of a value in one Graph; empty by default.
struct Value {
  int id = -1;
  explicit operator bool() const { return id >= 0; }
  bool operator==(const Value&) const = default;
};

struct ValueInfo {
  ValueType type;
  std::string name;
  Storage storage = Storage::arena;
  std::size_t offset = 0;             ///< in bytes in its storage; the slot of an external value
  double fill = 0;                    ///< each element of a constant without elements
  std::vector<double> elements = {};  ///< of a constant, in row-major order
  int producer = -1;                  ///< index of the node that writes it, -1 for none
};

}  // namespace linnet
