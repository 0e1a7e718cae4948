// SPDX-License-Identifier: Apache-2.0
#include <linnet/expression.h>
#include <linnet/model.h>

#include "base/check.h"
#include "core/dims.h"
#include "nn/ensembles.h"
#include "nn/expression_scope.h"
#include "ops/random_normal/random_normal.h"
#include "ops/random_uniform/random_uniform.h"

namespace linnet {

std::vector<Expression> add_operator(OpPtr op, std::string_view kind,
                                     std::span<const Expression> operands) {
  const auto& scope = operands.front().scope();
  std::vector<Value> inputs;
  bool batched = false;
  for (const Expression& operand : operands) {
    require(&operand.scope()->graph == &scope->graph,
            "[{}] expected operands of one network; got operands of two", op->name());
    inputs.push_back({operand.value()});
    batched = batched || operand.batched();
  }
  const std::string name = scope->name.empty() ? scope->builder->layer_name("", kind) : scope->name;
  const auto add = [&] { return scope->graph.add(std::move(op), std::move(inputs), name); };
  const std::vector<Value> outputs = scope->builder != nullptr ? with_batch_named(add) : add();
  if (scope->builder != nullptr) scope->builder->settle_lengths();
  std::vector<Expression> expressions;
  for (const Value output : outputs) expressions.emplace_back(scope, output.id, batched);
  return expressions;
}

Shape Expression::shape() const {
  const Shape& whole = scope_->graph.shape({value_});
  return batched_ ? whole.sample() : whole;
}

DType Expression::dtype() const { return scope_->graph.type({value_}).dtype; }

Expression operator|(const Expression& x, const Layer& layer) {
  NetworkBuilder* builder = x.scope()->builder;
  require(builder != nullptr, "expected operators alone in a loss; got a layer");
  builder->set_current({x.value()});
  with_batch_named([&] { builder->build(layer); });
  return {x.scope(), builder->current().id, true};
}

Expression Block::operator()(const Expression& x) const {
  NetworkBuilder* builder = x.scope()->builder;
  require(builder != nullptr, "expected operators alone in a loss; got a layer");
  builder->set_current({x.value()});
  with_batch_named([&] { builder->apply_block(name_, layers_); });
  return {x.scope(), builder->current().id, true};
}

Expression LayerWeights::add(const std::string& role, const Shape& shape,
                             const Initializer& initializer, std::int64_t fan_in,
                             std::int64_t fan_out) {
  require(!builder_.has_parameter(scope_->name, role),
          "the layer '{}' has two weights '{}'; expected a different role for each", scope_->name,
          role);
  const Value weight = builder_.weight(scope_->name, role, shape, initializer, fan_in, fan_out);
  return {scope_, weight.id, false};
}

void CustomLayer::build(NetworkBuilder& builder) const {
  require(!kind.empty() && function != nullptr,
          "expected a kind and a function for a custom layer; got the kind '{}'{}", kind,
          function == nullptr ? " and no function" : "");
  const std::string layer = builder.layer_name(name, kind);
  const auto scope =
      std::make_shared<const ExpressionScope>(ExpressionScope{builder.graph(), &builder, layer});
  LayerWeights weights(builder, scope);
  const Expression y = function({scope, builder.current().id, true}, weights);
  require(y.scope() == scope && y.batched(),
          "[{} '{}'] expected the function to return an expression of its input", kind, layer);
  builder.set_current({y.value()});
}

FunctionalNetwork::FunctionalNetwork()
    : definition_(std::make_unique<NetworkDefinition>()),
      builder_(std::make_unique<NetworkBuilder>(*definition_)),
      scope_(std::make_shared<const ExpressionScope>(
          ExpressionScope{builder_->graph(), builder_.get(), {}})) {
  definition_->outputs.emplace_back();  // where the builder keeps the current value
}
FunctionalNetwork::~FunctionalNetwork() = default;

Expression FunctionalNetwork::input(const std::string& name, const Shape& sample, DType dtype,
                                    bool lengths) {
  builder_->set_current(builder_->add_input(name, sample, dtype));
  if (lengths) with_batch_named([&] { builder_->add_lengths(); });
  return {scope_, builder_->current().id, true};
}

template <class Op>
Expression FunctionalNetwork::noise(const Shape& sample) {
  Graph& graph = builder_->graph();
  if (rows_ < 0) {
    rows_ = graph.add_value("rows", {DType::f32, Shape{kTemplateBatch}}, Storage::external).id;
  }
  const std::string name = builder_->layer_name("", Op::kName);
  const auto stream = static_cast<std::int64_t>(graph.nodes().size());
  const Op op({.shape = dims_of(sample), .stream = stream});
  return {scope_, graph.emit(op, {Value{rows_}}, name).id, true};
}

Expression FunctionalNetwork::normal(const Shape& sample) { return noise<RandomNormalOp>(sample); }

Expression FunctionalNetwork::uniform(const Shape& sample, double low, double high) {
  require(low < high, "[uniform] expected a low bound below the high one; got {} and {}", low,
          high);
  return low + (high - low) * noise<RandomUniformOp>(sample);
}

Network FunctionalNetwork::build_ensemble(const std::vector<Expression>& members, Answers answers,
                                          std::int64_t folds) {
  require(!members.empty(), "expected at least one member of an ensemble; got none");
  require(folds >= 1 && std::ssize(members) % folds == 0,
          "expected a number of folds that divides the {} members of the ensemble; got {}",
          members.size(), folds);
  for (const Expression& member : members) {
    require(member.scope() == scope_ && member.batched(),
            "a member of the ensemble is not an expression of this network's inputs");
    require(member.shape() == members.front().shape(),
            "expected members of one shape; got {} and {}", to_string(members.front().shape()),
            to_string(member.shape()));
  }
  if (members.size() == 1) return build({{"output", members.front()}});
  const Network network = build({{"output", mean_answer(members, answers, {})}});
  auto definition = std::make_unique<NetworkDefinition>(network.definition());
  for (const Expression& member : members) {
    definition->outputs.front().members.push_back({member.value()});
  }
  definition->outputs.front().folds = folds;
  return Network(std::move(definition));
}

Network FunctionalNetwork::build(
    const std::vector<std::pair<std::string, Expression>>& outputs) const {
  require(!definition_->inputs.empty(), "expected a network with an input; got none");
  require(!outputs.empty(), "expected a network with an output; got none");
  auto network = std::make_unique<NetworkDefinition>(*definition_);
  if (rows_ >= 0) network->graph.replace_uses({rows_}, network->inputs[0].value);
  network->outputs.clear();
  for (const auto& [name, y] : outputs) {
    require(y.scope() == scope_ && y.batched(),
            "the output '{}' is not an expression of this network's inputs", name);
    for (const NetworkOutput& other : network->outputs) {
      require(other.name != name, "expected different names of outputs; two are called '{}'", name);
    }
    network->outputs.push_back({name, {y.value()}});
  }
  return Network(std::move(network));
}

}  // namespace linnet
