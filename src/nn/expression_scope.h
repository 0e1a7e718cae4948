// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/expression.h>

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "nn/builder.h"

namespace linnet {

/// The graph that expressions are written into.
struct ExpressionScope {
  Graph& graph;
  NetworkBuilder* builder = nullptr;  ///< null in a loss, which has neither layers nor weights
  std::string name = {};              ///< of all its operators; empty: numbered by kind
  /// The inputs of a loss's network, by name; none in other scopes.
  std::vector<std::pair<std::string, Value>> inputs = {};
};

/// Adds an operator, and says which of its operands have lengths; its outputs, which have a batch
/// if an operand has one. `kind`: what it is called with a number, where the scope has no name.
/// Throws Error for operands of several networks, and for those that don't fit.
std::vector<Expression> add_operator(OpPtr op, std::string_view kind,
                                     std::span<const Expression> operands);

/// Returns the same for a new operator; its first output.
template <class O>
Expression emit(O op, std::span<const Expression> operands) {
  return add_operator(std::make_shared<O>(std::move(op)), O::kName, operands).front();
}
template <class O>
Expression emit(O op, std::initializer_list<Expression> operands) {
  return emit(std::move(op), std::span(operands.begin(), operands.size()));
}

}  // namespace linnet
