// SPDX-License-Identifier: Apache-2.0
#include <linnet/custom_operator.h>

#include <algorithm>

#include "base/check.h"
#include "nn/custom_operator.h"
#include "nn/expression_scope.h"
#include "ops/custom/custom.h"

namespace linnet {
namespace {

/// Returns the user's gradient, as nodes.
std::vector<Value> gradient_of(const CustomOp& op, const GradientArgs& args) {
  const auto scope =
      std::make_shared<const ExpressionScope>(ExpressionScope{args.graph, nullptr, args.node.name});
  const bool batched = std::ranges::any_of(op.batched(), [](std::int64_t b) { return b != 0; });
  std::vector<Expression> inputs;
  for (std::size_t i = 0; i < args.node.inputs.size(); ++i) {
    inputs.emplace_back(scope, args.node.inputs[i].id, op.batched()[i] != 0);
  }
  std::vector<Expression> outputs;
  std::vector<std::optional<Expression>> given;
  for (std::size_t i = 0; i < args.node.outputs.size(); ++i) {
    outputs.emplace_back(scope, args.node.outputs[i].id, batched);
    given.emplace_back();
    const Value gradient = args.output_gradients[i];
    if (gradient) given.back().emplace(scope, gradient.id, batched);
  }
  const auto made = op.own().gradient(inputs, outputs, given);
  const auto require_fit = [&](bool fits, const std::string& what) {
    require(fits, "[{} '{}'] expected its gradient to be {}", op.name(), args.node.name, what);
  };
  require_fit(made.size() == inputs.size(),
              fmt::format("{} expressions, one for each input; got {}", inputs.size(),
                          made.size()));
  std::vector<Value> gradients;
  for (std::size_t i = 0; i < made.size(); ++i) {
    gradients.emplace_back();
    if (!made[i] || !args.needed[i]) continue;
    require_fit(&made[i]->scope()->graph == &args.graph, "expressions of its operands");
    gradients.back() = {made[i]->value()};
    const Shape& shape = args.graph.shape(gradients.back());
    const Shape& wanted = args.graph.shape(args.node.inputs[i]);
    require_fit(shape == wanted,
                fmt::format("{} by input {}; got {}", to_string(wanted), i, to_string(shape)));
  }
  return gradients;
}

}  // namespace

OpPtr custom_op(std::shared_ptr<const CustomOperator> own, std::vector<std::int64_t> batched) {
  return std::make_shared<CustomOp>(std::move(own), std::move(batched), gradient_of);
}

OpPtr read_custom_op(const std::string& name, const Attributes& attributes,
                     const OperatorReaders& readers) {
  const auto reader = readers.find(name);
  require(reader != readers.end(),
          "it needs the custom operator '{}', which ModelOptions::operators does not name", name);
  AttributeReader read(name, attributes);
  std::string settings;
  std::vector<std::int64_t> batched;
  read("settings", settings);
  read("batched", batched);
  read.finish();
  std::shared_ptr<const CustomOperator> own = reader->second(settings);
  require(own != nullptr && own->name() == name, "the reader of the custom operator '{}' made {}",
          name, own == nullptr ? "none" : fmt::format("'{}'", own->name()));
  return custom_op(std::move(own), std::move(batched));
}

std::vector<Expression> apply(std::shared_ptr<const CustomOperator> op,
                              const std::vector<Expression>& inputs) {
  require(op != nullptr && !inputs.empty(), "apply() expected an operator and operands");
  std::vector<std::int64_t> batched;
  for (const Expression& input : inputs) batched.push_back(input.batched() ? 1 : 0);
  const std::string name = op->name();
  return add_operator(custom_op(std::move(op), std::move(batched)),
                      std::string_view(name).substr(name.find('.') + 1), inputs);
}

}  // namespace linnet
