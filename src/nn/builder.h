// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "nn/definition.h"

namespace linnet {

/// What a layer's build() works on: the network so far.
class NetworkBuilder {
 public:
  explicit NetworkBuilder(NetworkDefinition& network) : network_(network) {}

  Graph& graph() { return network_.graph; }
  /// The output of the layers so far, (kTemplateBatch, ...).
  Value current() const { return network_.output; }
  const Shape& shape() const { return network_.graph.shape(network_.output); }
  void set_current(Value value) { network_.output = value; }

  /// `wanted`, or the kind with its next number. Throws Error for a name that is taken.
  std::string layer_name(const std::string& wanted, std::string_view kind);

  /// A trainable weight "<layer>.<role>".
  Value weight(const std::string& layer, std::string_view role, Shape shape,
               const Initializer& initializer, std::int64_t fan_in, std::int64_t fan_out);
  /// A running statistic.
  Value statistic(const std::string& layer, std::string_view role, Shape shape,
                  const Initializer& initializer);

  /// Appends an operator of one operand and one output.
  template <class O>
  void apply(O op, const std::string& name) {
    set_current(graph().emit(std::move(op), {current()}, name));
  }

 private:
  Value add(const std::string& layer, std::string_view role, ParameterSpec spec);

  NetworkDefinition& network_;
};

}  // namespace linnet
