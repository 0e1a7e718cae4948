// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "c_export/operator_file.h"
#include "ops/conv2d/conv2d.h"
#include "ops/matmul/matmul.h"
#include "ops/quantize/quantize.h"

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

/// Returns the place of sample n, of `elements` elements each. More than one are in a graph of one
/// sample where a network takes steps, or another axis, as further samples.
std::string at_sample(const std::string& place, std::int64_t n, std::int64_t elements);

/// Sets the result to an activation of itself.
void activate_result(const Written& w, Activation kind);
/// Adds another value of its shape to the result.
void add_to_result(const Written& w, Value other);
/// Writes a convolution by `weights`, as the operator's operand w has them; `bias`: as arguments.
/// Its activation follows.
void call_conv2d(const Written& w, const Conv2dAttrs& attrs, const std::vector<float>& weights,
                 const std::string& bias);

/// Returns the reciprocal of the scale, the lowest and the highest level less that of 0, as
/// arguments.
std::string level_arguments(const LevelsAttrs& levels);

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

/// Adds the rounding to levels.
void add_level_writers(Writers& all);
/// Adds those that stand in src/ops and src/fusions; generated.
void register_operator_writers(Writers& all);

}  // namespace linnet
