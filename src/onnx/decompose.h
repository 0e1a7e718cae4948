// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/schema.h"

namespace linnet::onnx {

/// The domain of onnxruntime's own operators.
inline constexpr std::string_view kRuntimeDomain = "com.microsoft";

/// The most iterations of a loop.
inline constexpr std::int64_t kMostIterations = 4096;

/// Makes names that a file does not have, and constants.
class Made {
 public:
  explicit Made(ModelProto& model);

  /// Returns `wanted`, or a longer name.
  std::string_view name(std::string_view wanted);
  /// Returns the name of a constant of one whole number, of these dims. Equal constants
  /// share a name.
  std::string_view integer(std::int64_t value, const Dims& dims = {});
  /// Returns the name of the constant true, without axes.
  std::string_view truth();
  /// Returns the name of the constant 1, a float without axes.
  std::string_view one();

 private:
  std::string_view add(std::string_view wanted, Type type, Dims dims, std::string bytes);

  ModelProto& model_;
  std::set<std::string_view> names_;
  std::map<std::string, std::int64_t, std::less<>> counts_;
  std::map<std::pair<std::int64_t, Dims>, std::string_view> integers_;
  std::string_view truth_;
  std::string_view one_;
};

/// Replaces nodes that compute in 8 bits (QLinearConv becomes DequantizeLinear of each operand,
/// Conv and QuantizeLinear) and loops of a constant number of iterations. Memory taken is in
/// proportion to the file. Throws DataError naming a node whose operands are not those of its
/// operator.
void decompose(ModelProto& model);

/// Returns whether a node is a Loop.
bool is_loop(const NodeProto& node);
/// Unrolls loops with a constant number of iterations. Adds each iteration's condition to
/// ModelProto::conditions; the importer checks that it is true.
void unroll(ModelProto& model, Made& made);

/// Returns the names of the operators that it knows, and what of each is not supported.
std::vector<std::pair<std::string, std::string>> decomposed_operators();

}  // namespace linnet::onnx
