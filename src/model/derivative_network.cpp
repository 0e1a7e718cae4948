// SPDX-License-Identifier: Apache-2.0
#include "model/derivative_network.h"

#include <linnet/functions.h>

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "model/named_places.h"
#include "nn/builder.h"
#include "nn/expression_scope.h"
#include "ops/dropout/dropout.h"
#include "plan/passes/match.h"

namespace linnet {
namespace {

NetworkDefinition without_dropout(const NetworkDefinition& network) {
  NetworkDefinition made = network;
  const auto drops = [&](std::size_t n) {
    return op_as<DropoutOp>(&made.graph.nodes()[n]) != nullptr;
  };
  for (std::size_t n = 0; n < made.graph.nodes().size(); ++n) {
    if (!drops(n)) continue;
    const Value x = made.graph.nodes()[n].inputs.front();
    const Value y = made.graph.nodes()[n].outputs.front();
    made.graph.replace_uses(y, x);
    for (NetworkOutput& output : made.outputs) {
      if (output.value == y) output.value = x;
    }
  }
  made.graph.erase_nodes(drops);
  return made;
}

}  // namespace

NetworkDefinition derivative_network(const NetworkDefinition& network, const std::string& by,
                                     const std::string& of, Derivatives which) {
  NetworkDefinition made = without_dropout(network);
  const NetworkInput& input = made.inputs[by.empty() ? 0 : place_of(made.inputs, by, "input")];
  const NetworkOutput& output = made.outputs[of.empty() ? 0 : place_of(made.outputs, of, "output")];
  require(input.dtype == DType::f32, "the input '{}' holds ids, which have no gradient",
          input.name);
  const bool second = which == Derivatives::jacobian_and_hessian;
  const Shape from = input.sample;
  const Shape to = made.graph.shape(output.value).sample();
  const std::string what =
      fmt::format("the {} of an output {} by an input {}", second ? "Hessian" : "Jacobian",
                  to_string(to), to_string(from));
  require(1 + to.rank() + (second ? 2 : 1) * from.rank() <= Shape::kMostAxes,
          "{} would have more than {} dims", what, Shape::kMostAxes);
  require(to.elements() * (second ? from.elements() : 1) <= kMostBackwardPasses,
          "{} would take more than {} backward passes", what, kMostBackwardPasses);
  NetworkBuilder builder(made);
  const auto scope = std::make_shared<const ExpressionScope>(
      ExpressionScope{.graph = made.graph, .builder = &builder, .name = "derivatives"});
  const Expression x{scope, input.value.id, true};
  const Expression y{scope, output.value.id, true};
  const auto add = [&](const char* name, const Expression& value) {
    require(std::ranges::count(made.outputs, name, &NetworkOutput::name) == 0,
            "the network has an output '{}' already", name);
    made.outputs.push_back({.name = name, .value = {value.value()}});
  };
  add("jacobian", jacobian(y, x));
  if (second) add("hessian", hessian(y, x));
  return made;
}

}  // namespace linnet
