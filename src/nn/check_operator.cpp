// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/random.h"
#include "graph/differentiate.h"
#include "graph/interpreter.h"
#include "nn/custom_operator.h"

namespace linnet {
namespace {

constexpr double kStep = 1e-4;
constexpr double kGradientTolerance = 1e-6;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Numbers in [-1, 1), the same in each call with this `key`.
std::vector<double> filled(std::uint64_t key, std::int64_t count) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto words = philox(key, static_cast<std::uint64_t>(i), 0);
    numbers.push_back(2.0 * unit_float(words[0]) - 1);
  }
  return numbers;
}

/// The operator alone in a graph, on numbers, and the gradient of a weighted sum of its outputs.
class Alone {
 public:
  Alone(const std::shared_ptr<const CustomOperator>& own, const std::vector<Shape>& shapes)
      : own_(own), shapes_(shapes) {
    for (const Shape& shape : shapes) {
      const ValueType type{DType::f32, shape};
      inputs_.push_back(graph_.add_value("input", type, Storage::external));
      values_.push_back(filled(inputs_.size(), shape.elements()));
    }
    outputs_ =
        graph_.add(custom_op(own, std::vector<std::int64_t>(shapes.size(), 1)), inputs_, "checked");
    for (const Value y : outputs_) {
      by_outputs_.push_back(graph_.add_value("gradient", graph_.type(y), Storage::external));
      weights_.push_back(filled(100 + by_outputs_.size(), graph_.shape(y).elements()));
    }
  }

  /// Throws Error where the kernel's outputs are not the reference's.
  void check_kernel(double tolerance) {
    const std::vector<std::vector<double>> expected = run(graph_, outputs_);
    for (const bool backwards : {false, true}) {
      const std::vector<std::vector<float>> found = run_kernel(backwards);
      for (std::size_t o = 0; o < found.size(); ++o) {
        double largest = 0;
        for (const double y : expected[o]) largest = std::max(largest, std::abs(y));
        for (std::size_t i = 0; i < found[o].size(); ++i) {
          // A NaN differs from everything.
          require(std::abs(found[o][i] - expected[o][i]) <= tolerance * std::max(largest, 1e-30),
                  "[{}] element {} of output {} is {}; the reference gives {}", own_->name(), i, o,
                  found[o][i], expected[o][i]);
        }
      }
    }
  }

  /// Throws Error where the gradient is not what central differences give.
  void check_gradient() {
    Graph graph = graph_;
    const std::vector<Value> gradients = differentiate(graph, outputs_, by_outputs_, inputs_);
    std::vector<Value> asked;
    for (const Value gradient : gradients) asked.push_back(gradient ? gradient : inputs_[0]);
    const std::vector<std::vector<double>> found = run(graph, asked);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      for (std::size_t e = 0; e < values_[i].size(); ++e) {
        const double difference = difference_by(values_[i][e]);
        const double gradient = gradients[i] ? found[i][e] : 0;
        require(std::abs(gradient - difference) <= kGradientTolerance * (1 + std::abs(difference)),
                "[{}] the gradient by element {} of input {} is {}; finite differences give {}",
                own_->name(), e, i, gradient, difference);
      }
    }
  }

 private:
  std::vector<std::vector<double>> run(const Graph& graph, const std::vector<Value>& asked) const {
    Interpreter interpreter(graph);
    for (std::size_t i = 0; i < inputs_.size(); ++i) interpreter[inputs_[i]].data = values_[i];
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      interpreter[by_outputs_[o]].data = weights_[o];
    }
    interpreter.run();
    std::vector<std::vector<double>> found;
    for (const Value value : asked) found.push_back(interpreter[value].data);
    return found;
  }

  double loss() const {
    double sum = 0;
    const std::vector<std::vector<double>> y = run(graph_, outputs_);
    for (std::size_t o = 0; o < y.size(); ++o) {
      for (std::size_t i = 0; i < y[o].size(); ++i) sum += weights_[o][i] * y[o][i];
    }
    return sum;
  }

  /// Central differences of fourth order.
  double difference_by(double& value) const {
    const double here = value;
    const auto at = [&](double steps) {
      value = here + steps * kStep;
      return loss();
    };
    const double difference = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * kStep);
    value = here;
    return difference;
  }

  std::vector<std::vector<float>> run_kernel(bool backwards) const {
    std::vector<Shape> given;
    for (const Value y : outputs_) given.push_back(graph_.shape(y));
    const CpuKernel kernel = own_->cpu(shapes_, given);
    std::vector<std::vector<float>> inputs;
    std::vector<std::vector<float>> outputs;
    for (const auto& values : values_) inputs.emplace_back(values.begin(), values.end());
    for (const Shape& shape : given) {
      outputs.emplace_back(static_cast<std::size_t>(shape.elements()), kNaN);
    }
    std::vector<float> workspace(kernel.workspace_bytes / sizeof(float) + 1, kNaN);
    std::vector<void*> in;
    std::vector<void*> out;
    for (auto& input : inputs) in.push_back(input.data());
    for (auto& output : outputs) out.push_back(output.data());
    const KernelArrays arrays(in, out, reinterpret_cast<std::byte*>(workspace.data()));
    for (const CpuStage& stage : kernel.stages) {
      for (int t = 0; t < stage.tasks; ++t) stage.run(arrays, backwards ? stage.tasks - 1 - t : t);
    }
    return outputs;
  }

  std::shared_ptr<const CustomOperator> own_;
  std::vector<Shape> shapes_;
  Graph graph_;
  std::vector<Value> inputs_;
  std::vector<Value> outputs_;
  std::vector<Value> by_outputs_;
  std::vector<std::vector<double>> values_;   ///< of the inputs
  std::vector<std::vector<double>> weights_;  ///< of the outputs, in the loss
};

}  // namespace

void check_operator(const std::shared_ptr<const CustomOperator>& op,
                    const std::vector<Shape>& inputs, const OperatorCheck& check) {
  require(op != nullptr && !inputs.empty(), "check_operator() expected an operator and operands");
  Alone alone(op, inputs);
  alone.check_kernel(check.tolerance);
  if (check.gradient) alone.check_gradient();
}

}  // namespace linnet
