// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/node_import.h"

// What operators of ai.onnx.ml share: rows of features go in, labels and scores come out.
namespace linnet::onnx {

/// Returns input `i` as numbers. Throws DataError for class labels that are strings.
Trace numbers_of(NodeImport& n, std::size_t i);
/// Returns input `i`, (batch, features), as samples of one axis. Throws DataError for other dims.
Expression rows_of_features(NodeImport& n, std::size_t i);
/// Returns samples of one axis as a value (batch, features).
Trace as_rows(const Expression& e);

/// The classes of a classifier: strings or integers.
struct ClassLabels {
  std::vector<std::string> texts;
  std::vector<std::int64_t> numbers;

  std::int64_t count() const { return std::ssize(texts) + std::ssize(numbers); }
  /// Returns what a model calls its classes; empty where the labels are 0, 1, 2, ...
  std::vector<std::string> names() const;
};
/// Reads them. Throws DataError for none and for both kinds.
ClassLabels class_labels(NodeImport& n, std::string_view integers);

/// Gives labels as an output: ids of classes, as numbers from 0 on where the labels are strings,
/// else as what they are. `axes`: ONNX's, of one id a sample if not said.
void give_labels(NodeImport& n, const ClassLabels& labels, const Expression& ids,
                 std::size_t output, std::vector<Axis> axes = {{0}});
/// Gives scores, one for each class.
void give_scores(NodeImport& n, const ClassLabels& labels, const Expression& scores,
                 std::size_t output);

/// Returns scores (classes) after an operator's post_transform: NONE, LOGISTIC, SOFTMAX or
/// SOFTMAX_ZERO. Throws DataError for PROBIT and others.
Expression after_transform(const NodeImport& n, const Expression& scores,
                           const std::string& transform);
/// Returns parts one after the other along the only axis.
Expression side_by_side(const std::vector<Expression>& parts);

}  // namespace linnet::onnx
