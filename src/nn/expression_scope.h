// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/expression.h>

#include "graph/graph.h"
#include "nn/builder.h"

namespace linnet {

/// What expressions are written into.
struct ExpressionScope {
  Graph& graph;
  NetworkBuilder* builder = nullptr;  ///< null in a loss, which has neither layers nor weights
  std::string name = {};              ///< of all its operators; empty: numbered by kind
};

/// Adds an operator; its first output.
template <class O>
Expression emit(O op, std::initializer_list<Expression> operands) {
  const auto& scope = operands.begin()->scope();
  std::vector<Value> inputs;
  bool batched = false;
  for (const Expression& operand : operands) {
    require(&operand.scope()->graph == &scope->graph,
            "[{}] expected operands of one network; got some of two", O::kName);
    inputs.push_back({operand.value()});
    batched = batched || operand.batched();
  }
  const std::string name =
      scope->name.empty() ? scope->builder->layer_name("", O::kName) : scope->name;
  const auto add = [&] {
    return scope->graph.add(std::make_shared<O>(std::move(op)), std::move(inputs), name)[0];
  };
  const Value y = scope->builder != nullptr ? with_batch_named(add) : add();
  if (scope->builder != nullptr) scope->builder->settle_lengths();
  return {scope, y.id, batched};
}

}  // namespace linnet
