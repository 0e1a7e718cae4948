// SPDX-License-Identifier: Apache-2.0
#include "op_bf16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "graph/interpreter.h"
#include "op_backends.h"
#include "ops/ops.h"

namespace linnet::testing {
namespace {

using Data = std::vector<std::vector<double>>;

constexpr double kBound = 1e-5;         // of the sum of the products' magnitudes
constexpr double kOfActivation = 1e-5;  // absolute: tanh and its like, which are at most 1 steep

/// One node; its operands are external values.
struct Single {
  Graph graph;
  std::vector<Value> inputs;
  std::vector<Value> outputs;

  Single(const OpPtr& op, const std::vector<ValueType>& types) {
    for (const ValueType& type : types) {
      inputs.push_back(graph.add_value("operand", type, Storage::external, inputs.size()));
    }
    outputs = graph.add(op, inputs, "layer");
  }

  std::vector<double> reference(const Data& data) const {
    Interpreter interpreter(graph);
    for (std::size_t i = 0; i < inputs.size(); ++i) interpreter[inputs[i]].data = data[i];
    interpreter.run({});
    return interpreter[outputs[0]].data;
  }
};

/// The op's activation by its name, "none" where it has no such attribute.
std::string activation_of(const Op& op) {
  for (const auto& [key, value] : op.attributes()) {
    if (key == "activation") return std::get<std::string>(value);
  }
  return "none";
}

OpPtr without_activation(const OpPtr& op) {
  if (activation_of(*op) == "none") return op;
  Attributes attributes = op->attributes();
  for (auto& [key, value] : attributes) {
    if (key == "activation") value = std::string("none");
  }
  // By its name: op_test may be linked with a few operators alone.
  return all_ops().read(op->name(), attributes);
}

Data operands(const OpCase& c) {
  std::seed_seq seed(c.name.begin(), c.name.end());
  std::mt19937_64 random(seed);
  Data data;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const Fill fill = c.fills.empty() ? Fill{} : c.fills[std::min(i, c.fills.size() - 1)];
    std::uniform_real_distribution<double> uniform(fill.low, fill.high);
    data.emplace_back(static_cast<std::size_t>(c.inputs[i].shape.elements()));
    for (double& x : data.back()) x = static_cast<double>(static_cast<float>(uniform(random)));
  }
  return data;
}

}  // namespace

bool rounds_in_bf16(const Op& op) {
  const std::string name(op.name());
  return name == "dense" || name.starts_with("dense_grad") || name == "conv2d" ||
         name.starts_with("conv2d_grad") || name == "conv_transpose2d" || name == "matmul";
}

double nearest_bf16(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);  // 8 bits of it are kept
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}

std::map<std::string, RoundWeights, std::less<>>& folded_weights() {
  static std::map<std::string, RoundWeights, std::less<>> rules;
  return rules;
}

void check_bf16(const OpCase& c) {
  SCOPED_TRACE(c.name + " in bf16: " + std::string(c.op->name()));
  const Data data = operands(c);
  Data rounded = data;
  Data magnitudes = data;
  for (std::size_t i = 0; i < data.size(); ++i) {
    for (std::size_t k = 0; k < data[i].size(); ++k) {
      if (i < 2) rounded[i][k] = nearest_bf16(data[i][k]);
      magnitudes[i][k] = std::abs(rounded[i][k]);
    }
  }
  const Single single(c.op, c.inputs);
  const std::vector<double> expected = single.reference(rounded);
  const std::vector<double> scale =
      Single(without_activation(c.op), c.inputs).reference(magnitudes);
  const std::string activation = activation_of(*c.op);
  const double more = activation == "none" || activation == "relu" ? 0.0 : kOfActivation;
  for (const TestedDevice& device : tested_cpus_in_bf16()) {
    const auto run_once = [&](Backend& backend, bool checked) {
      return run(backend, single.graph, single.inputs, data, single.outputs, {}, checked)[0];
    };
    const std::vector<double> actual = run_once(*device.backends[0], true);
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t k = 0; k < actual.size(); ++k) {
      ASSERT_NEAR(actual[k], expected[k], kBound * scale[k] + more)
          << "element " << k << " on " << device.name;
    }
    for (Backend* backend : device.backends) {
      EXPECT_EQ(run_once(*backend, false), actual)
          << "other bits on " << device.name << " at " << backend->threads() << " threads";
    }
  }
}

}  // namespace linnet::testing
