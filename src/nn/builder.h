// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/layer.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include "describe/setting.h"
#include "graph/steps_rule.h"
#include "nn/definition.h"

namespace linnet {

/// The network so far, to which a layer's build() adds.
class NetworkBuilder {
 public:
  /// Builds onto a network of one output, or of none yet.
  explicit NetworkBuilder(NetworkDefinition& network)
      : network_(network), settled_(network.graph.nodes().size()) {}

  Graph& graph() { return network_.graph; }
  /// Returns the output of the layers so far, (kTemplateBatch, ...).
  Value current() const { return network_.outputs[0].value; }
  const Shape& shape() const { return network_.graph.shape(current()); }
  void set_current(Value value) { network_.outputs[0].value = value; }
  /// Builds a layer on the current output. Throws Error for one that would take padding for data:
  /// what it adds obeys Op::steps() unless it respects or takes the lengths.
  void build(const Layer& layer);
  /// Returns what the build() of a described layer calls first: checks its fields, and names it as
  /// layer_name() does. `wanted` and `kind`: instead of the layer's own.
  template <class L>
  std::string begin(const L& layer) {
    return begin(typeid(L), &layer, layer.name, {});
  }
  template <class L>
  std::string begin(const L& layer, const std::string& wanted, std::string_view kind = {}) {
    return begin(typeid(L), &layer, wanted, kind);
  }
  /// Returns the lengths of the current output's sequences, i32 (kTemplateBatch); none: it has
  /// none.
  Value lengths() const;
  /// Returns the same, of a layer that sees to the steps itself and keeps them: its output has the
  /// lengths too.
  Value heed_lengths();
  /// Returns the same, of a layer whose output needs none any more.
  Value take_lengths();
  /// Runs `add`, whose operators together keep each step of `x` apart: the value that it returns
  /// has the lengths of x.
  void keep_steps(Value x, const std::function<Value()>& add);
  /// Gives the current output, an input's, lengths: a further input "<input>.lengths". The current
  /// output then has zeros for padding. `layer`: the name of what it adds; empty: by number.
  void add_lengths(std::string layer = {});
  /// Gives the operators that were added the lengths of their operands. Throws Error for one that
  /// would take padding for data, and for operands whose lengths are not the same.
  void settle_lengths();
  /// Adds a node of another network; the caller knows the lengths of its outputs.
  std::vector<Value> copy(const Node& node, std::vector<Value> inputs);

  /// Adds a further input. Throws Error for a name that is taken.
  Value add_input(const std::string& name, const Shape& sample, DType dtype);

  /// `wanted`, or the kind with its next number; after the names of the layers that it is part of:
  /// "block.conv2d_1". Throws Error for a name that is taken.
  std::string layer_name(const std::string& wanted, std::string_view kind);
  /// The name of the next layer that has none.
  void name_next(std::string name) { next_name_ = std::move(name); }
  /// Builds `layers` on the current output, as parts of `scope`: their names begin with "<scope>."
  /// and they are numbered anew.
  void build_within(const std::string& scope, std::span<const Layer> layers);
  /// Builds `layers` on the current output as parts of "<name>" the first time, of "<name>_2" the
  /// second, ...: with the weights of the first. Throws Error for other layers of that name.
  void apply_block(const std::string& name,
                   const std::shared_ptr<const std::vector<Layer>>& layers);

  /// Returns a trainable weight "<layer>.<role>".
  Value weight(const std::string& layer, std::string_view role, Shape shape,
               const Initializer& initializer, std::int64_t fan_in, std::int64_t fan_out);
  /// Returns a running statistic.
  Value statistic(const std::string& layer, std::string_view role, Shape shape,
                  const Initializer& initializer);

  /// Returns whether there is a weight or statistic "<layer>.<role>".
  bool has_parameter(const std::string& layer, std::string_view role) const;

  /// Appends an operator of one operand and one output.
  template <class O>
  void apply(O op, const std::string& name) {
    set_current(graph().emit(std::move(op), {current()}, name));
  }

 private:
  /// A block that was applied so many times.
  struct Applied {
    std::shared_ptr<const std::vector<Layer>> layers;
    int times = 0;
  };

  /// A layer that is being built.
  struct Open {
    std::string name;            ///< empty until it asks for one
    std::vector<Setting> parts;  ///< records of the layers that it has built
  };

  /// Says what the layer that is being built does with lengths.
  enum class LengthUse : std::uint8_t { operators, keeps, takes };

  std::string begin(std::type_index type, const void* layer, const std::string& wanted,
                    std::string_view kind);
  /// Keeps the record of a layer that has been built, as part of the one around it.
  void add_record(Setting record);
  void settle_lengths(const Node& node);
  /// Returns text such as "x.lengths"
  const std::string& name_of_lengths(int lengths) const;
  Value add(const std::string& layer, std::string_view role, ParameterSpec spec);
  /// Returns the weight of the block's first application that has this name.
  Value shared(const ParameterSpec& spec) const;

  NetworkDefinition& network_;
  std::string prefix_;  ///< of names: empty, or "<scope>."
  std::string next_name_;
  std::map<std::string, Applied> blocks_;
  std::string again_;    ///< "<name>_2." while a block is applied again
  std::string weights_;  ///< "<name>.", which its weights' names begin with
  std::vector<Open> open_;
  LengthUse length_use_ = LengthUse::operators;
  std::size_t settled_;  ///< so many of the graph's nodes have the lengths that they need
};

/// Throws the Error of a layer or operator that would not keep the steps of sequences.
[[noreturn]] void fail_on_lengths(std::string_view kind, std::string_view layer,
                                  const StepsRule& rule);

}  // namespace linnet
