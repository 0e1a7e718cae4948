// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/expression.h>

#include <cstdint>
#include <string>
#include <vector>

#include "onnx/schema.h"

namespace linnet::onnx {

/// An axis of an ONNX value as axes of an expression with its batch, outermost first: 0 is the
/// batch. Without any it has the dim 1.
using Axis = std::vector<int>;

/// A value that depends on the inputs: an expression, and how its axes stand for ONNX's.
/// Transposes, added and removed axes, and most reshapes change `axes` alone, so images are (N, H,
/// W, C) in the network wherever ONNX has (N, C, H, W). Where no axis holds the batch, it is added
/// before them.
struct Trace {
  Expression e;
  std::vector<Axis> axes;
  Type type = Type::f32;   ///< ONNX's; the expression is f32, or i32 for ids
  std::int64_t below = 0;  ///< ids of i32 are below it; 0: unknown
};

/// Returns the dim of an axis of the expression; kTemplateBatch for the batch.
std::int64_t dim_of(const Trace& t, int axis);
/// Returns the dims as ONNX has them; kTemplateBatch stands for the batch's.
Dims dims_of(const Trace& t);
/// Returns the ONNX axis that holds the batch; -1: none.
int batch_axis(const Trace& t);
/// Returns whether an ONNX axis is the batch alone.
bool is_batch(const Trace& t, int axis);

/// Returns the axes of the expression but the batch in another order.
Trace reordered(const Trace& t, const std::vector<int>& order);
/// Returns an axis of the expression cut into two, of `outer` and dim / outer.
Trace split(const Trace& t, int axis, std::int64_t outer);
/// Without axes of 1, which stand for none of ONNX's then.
Trace squeezed(const Trace& t);
/// Returns an ONNX axis as a single axis of the expression. Throws DataError for one with the
/// batch.
Trace merged(const Trace& t, int axis);
/// Returns the ONNX axes in this order as those of a sample, one each. The batch must be none of
/// them, and every other axis but `rows` must be. `rows`: its axis, if it is more than the batch,
/// is taken as rows of one larger batch, which from_rows() undoes.
Expression arranged(const Trace& t, const std::vector<int>& order, int rows = -1);
/// Returns what an operator made of arranged(t, ..., rows): sample axis i stands for ONNX axis
/// order[i].
Trace from_rows(const Trace& t, const Expression& y, const std::vector<int>& order, int rows = -1);
/// Returns a single axis of the expression, which functions count without the batch.
std::int64_t place_of(const Trace& t, int axis);
/// Returns elements first, first + step, ... of an axis, `count` of them. Throws DataError for
/// none.
Trace sliced(const Trace& t, int axis, std::int64_t first, std::int64_t step, std::int64_t count);
/// Returns what is left of `t` where the expression has lost these axes; ONNX's stay as 1 or go.
Trace without(const Trace& t, const Expression& y, const std::vector<bool>& reduced, bool keep,
              Type type);
/// Returns the same elements under other ONNX dims, where kTemplateBatch stands for the batch.
/// `batch`: its size in `dims`, where the file has a fixed one. Throws DataError where samples
/// would mix.
Trace reshaped(const Trace& t, const Dims& dims, std::int64_t batch);

}  // namespace linnet::onnx
