// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "runtime/step_exchange.h"

namespace linnet {
class Backend;
}

namespace linnet::testing {

/// Describes how one operand of a case is filled: uniform in [low, high) (whole numbers for i32 and
/// u8), from a generator seeded by the case's name.
struct Fill {
  double low = -1;
  double high = 1;
};

/// One operator with operands of given types. check() then shows
///  - that inference accepts them and the graph verifies,
///  - that every device's kernel (op_backends.h) agrees with the double-precision reference, on
///    poisoned memory, leaving nothing unwritten,
///  - that its bits are the same twice, at 1, 2 and 4 threads, without aliasing, and with a
///    simulated device's threads in another order,
///  - if `gradient`: that the gradient graph's reference agrees with central differences of the
///    forward reference, and its kernels with its reference,
///  - that the operator survives being written to attributes and read back,
///  - that kernels which read or write stored 16-bit numbers agree with the reference on rounded
///    operands (tested_in()), in every set of operands that they take,
///  - of products and convolutions, forward and in the gradient graph: check_bf16() (op_bf16.h).
struct OpCase {
  std::string name;
  OpPtr op;
  std::vector<ValueType> inputs;
  std::vector<Fill> fills = {};  ///< by input; the last one counts for the rest
  bool gradient = true;
  std::vector<bool> differentiable = {};  ///< by input; default: every f32 input
  /// By output; default: every f32 output. A saved by-product has no gradient.
  std::vector<bool> roots = {};
  double tolerance = 2e-5;  ///< relative to the largest magnitude of the reference's output
  StepInfo step = {.seed = 7, .step = 3, .update = 3, .epoch = 1, .position = 0};
  /// By input: how many records of its type it holds (a data set); default: one.
  std::vector<std::size_t> records = {};
  /// Parts of the names of the devices that have kernels, e.g. "CUDA"; default: every device.
  std::vector<std::string> devices = {};
};

/// Runs all checks; failures are GoogleTest failures that name the case.
void check(const OpCase& op_case);

template <class O>
OpPtr make_op(O op) {
  return std::make_shared<O>(std::move(op));
}

inline ValueType f32(Shape shape) { return {DType::f32, std::move(shape)}; }
inline ValueType i32(Shape shape) { return {DType::i32, std::move(shape)}; }
inline ValueType u8(Shape shape) { return {DType::u8, std::move(shape)}; }

/// The message of the linnet::Error that adding this node throws ("" if it does not).
std::string inference_error(OpPtr op, const std::vector<ValueType>& inputs,
                            const std::string& layer = "layer");

/// A graph built by hand, its external inputs given (rounded to their types), run on the devices
/// (as OpCase::devices) and by the reference; compares all values of `outputs`. For compositions
/// that check() can't express.
void compare_with_reference(const Graph& graph, const std::vector<Value>& inputs,
                            const std::vector<std::vector<double>>& data,
                            const std::vector<Value>& outputs, double tolerance = 2e-5,
                            const StepInfo& step = {},
                            const std::vector<std::string>& devices = {});

/// The values of `outputs` of a graph run once on `backend`; checked: see Program::run_checked.
std::vector<std::vector<double>> run(Backend& backend, const Graph& graph,
                                     const std::vector<Value>& inputs,
                                     const std::vector<std::vector<double>>& data,
                                     const std::vector<Value>& outputs, const StepInfo& step,
                                     bool checked,
                                     std::shared_ptr<const StepExchange> exchange = nullptr);
/// The same on the CPU with two threads.
std::vector<std::vector<double>> run(const Graph& graph, const std::vector<Value>& inputs,
                                     const std::vector<std::vector<double>>& data,
                                     const std::vector<Value>& outputs, const StepInfo& step = {},
                                     std::shared_ptr<const StepExchange> exchange = nullptr);

}  // namespace linnet::testing
