// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "c_export/operator_file.h"
#include "ops/matmul/matmul.h"

namespace linnet {

/// Holds what a node's writer reads.
struct Written {
  OperatorFile& file;
  const Node& node;

  const Shape& shape_in(std::size_t i) const { return file.graph().shape(node.inputs[i]); }
  const Shape& shape_out(std::size_t i = 0) const { return file.graph().shape(node.outputs[i]); }
  std::string in(std::size_t i) const { return file.at(node.inputs[i]); }
  std::string out(std::size_t i = 0) const { return file.at(node.outputs[i]); }
  std::vector<float> weight(std::size_t i) const { return file.parameter(node.inputs[i]); }
  /// Returns whether an operand is neither a weight nor a view of one.
  bool is_computed(std::size_t i) const { return file.is_computed(node.inputs[i]); }
  bool has(std::size_t i) const { return i < node.inputs.size(); }
  std::string in_or_none(std::size_t i) const { return has(i) ? in(i) : file.nothing(); }
  template <class O>
  const auto& attrs() const {
    return static_cast<const O&>(*node.op).attrs();
  }
};

inline std::int64_t channels_of(const Shape& shape) { return shape[-1]; }
inline std::int64_t rows_of(const Shape& shape) { return shape.elements() / channels_of(shape); }

/// Returns a matrix (rows, columns) as (columns, rows).
std::vector<float> transposed(const std::vector<float>& matrix, std::int64_t columns);

/// Returns the shortest literal of C that is the same float.
std::string c_number(double value);

/// Writes products of matrices.
void call_matmul(OperatorFile& file, const std::string& a, const std::string& b,
                 const std::string& y, const MatmulDims& dims, const MatmulAttrs& attrs);

/// Returns how far two neighbours along each axis of a sample lie apart.
std::vector<std::int64_t> strides_of(const Shape& shape);

/// Copies numbers that lie by strides at `from` to `to`, where they have these dims.
void write_take(OperatorFile& file, const std::string& from, const std::string& to,
                const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& strides);

using Writer = void (*)(const Written& w);
using Writers = std::map<std::string_view, Writer>;

/// Adds transposes, slices with steps, padding, elements by ids, and resampling.
void add_layout_writers(Writers& all);
/// Adds products, comparisons, selections, sums along an axis and ids.
void add_formula_writers(Writers& all);

}  // namespace linnet
