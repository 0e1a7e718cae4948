// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "onnx/node_import.h"

// What operators on constants share.
namespace linnet::onnx {

using Folds = std::map<std::string, std::function<void(NodeImport&)>, std::less<>>;

/// Gives a computed constant; `batch`: see Constant::batch.
void give(NodeImport& n, Type type, Dims dims, std::vector<double> values, bool batch = false,
          std::size_t output = 0);
/// Gives the dims of a value, or the part of them that the attributes ask for; kTemplateBatch
/// stands for the batch's.
void give_shape(NodeImport& n, const Dims& dims);
/// Returns the dims to which both are repeated. Throws DataError where they do not fit.
Dims common(const Dims& a, const Dims& b);
std::vector<double> broadcast(const std::vector<double>& values, const Dims& from, const Dims& to);
/// Returns whether a number is a multiple of the batch's size.
bool is_of_batch(double x);
/// Axes that are an attribute before an opset, and an input from it on; empty: all.
std::vector<std::int64_t> fold_axes(NodeImport& n, std::int64_t input_from);

/// Adds operators that move elements.
void add_shape_folds(Folds& f);
/// Adds those between levels and numbers.
void add_quantized_folds(Folds& f);

/// Returns whether an input of the node is a constant with an axis for the batch, or such an axis
/// is asked for.
bool is_of_samples(const NodeImport& n);
/// Returns the axis of the batch in the result of Importer::compute() for a constant that stands
/// for one of each sample: of running sums, and of images, whose first axis it is. -1 for other
/// constants. Throws DataError for other operators on those.
int axis_of_computed(const NodeImport& n);
/// Returns whether a Tile or an Expand makes rows of several numbers for each sample along the
/// first axis: the result is a value, not a constant.
bool repeats_for_samples(const NodeImport& n);
void repeat_for_samples(NodeImport& n);
/// Returns a constant that stands for one of each sample as a value. Throws DataError where the
/// batch is not its first axis, or samples differ.
Trace value_of_samples(NodeImport& n, const Constant& c);
/// Gives a Reshape of a value.
void reshape_value(NodeImport& n, const Trace& x);
/// Folds a node of such constants by what folds it for one sample. Throws DataError where the
/// result would not be one, or not be known.
void fold_samples(NodeImport& n, const std::function<void(NodeImport&)>& fold_one);

}  // namespace linnet::onnx
