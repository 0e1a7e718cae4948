// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tensor.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "c_export/inference_graph.h"

namespace linnet {

/// An operand of a formula, by its name there, and the index of its element that goes with the
/// result's element i.
struct FormulaOperand {
  char name = 'x';
  Value value = {};
  std::string index = "i";
  bool is_tangent = false;
};

/// A file of source code as it grows: what operators add to it, in the order of the graph. Formulas
/// and arguments are C, which each kind of file translates.
class OperatorFile {
 public:
  /// `values`: of the parameters, in the network's order.
  OperatorFile(const InferenceGraph& graph, std::vector<Tensor> values);
  virtual ~OperatorFile() = default;
  OperatorFile(const OperatorFile&) = delete;
  OperatorFile& operator=(const OperatorFile&) = delete;

  const Graph& graph() const { return g_->graph; }
  /// Returns whether what is written now is the derivative along one direction of the input: at()
  /// says then where values' derivatives are, and nothing() for constants, which have none.
  bool of_tangents() const { return of_tangents_; }
  /// Returns the name of the language, for messages.
  virtual std::string_view language() const = 0;

  /// Returns a value's first element, as arguments of a call: "memory + 128".
  std::string at(Value value);
  /// Returns the same, or nothing() for a value that no node reads.
  std::string at_if_read(Value value);
  /// Returns the arguments that stand for an operand that is missing.
  virtual std::string nothing() const = 0;
  /// Returns a formula's quotient whose divisor may be zero; `a`, `b`: names, numbers or calls.
  virtual std::string quotient(const std::string& a, const std::string& b) const {
    return a + " / " + b;
  }
  /// Returns where the scratch memory of the node begins that is being written.
  std::string scratch() const;

  /// Returns whether a node computes a value, or what it is a view of.
  bool is_computed(Value value) const;
  /// Returns the elements of a parameter, rounded where the network rounds it, or of a view of one.
  /// Throws Error where `value` is computed.
  std::vector<float> parameter(Value value) const;
  /// Returns a table of constants, as arguments: of equal contents there is one.
  virtual std::string floats(const std::vector<float>& values) = 0;
  /// Returns a table of constant ids, likewise.
  virtual std::string ids(const std::vector<float>& values) = 0;
  /// Returns a matrix of weights (rows, columns), as arguments, and after it its scales where
  /// weights are integers: of each column, or of each row (`scale_rows`). `groups`: matrices one
  /// after the other, whose columns have scales of their own.
  virtual std::string matrix(const std::vector<float>& values, std::int64_t columns,
                             bool scale_rows = false, std::int64_t groups = 1) = 0;

  /// Returns a table of integers from -128 to 127, as arguments. Throws Error where the language
  /// computes on no levels, as the next one.
  virtual std::string integers(const std::vector<int>& values);
  /// Returns memory for `elements` levels that a node alone uses, as arguments.
  virtual std::string spare_levels(std::int64_t elements);

  /// Adds a call to the program, and the function to the file. Throws Error naming the layer where
  /// the language has no such function.
  virtual void call(std::string_view function, const std::string& arguments) = 0;
  /// Sets `count` elements of a value to a formula of its operands.
  virtual void each(std::int64_t count, const std::vector<FormulaOperand>& operands, Value to,
                    const std::string& formula) = 0;
  /// Copies `count` elements.
  virtual void copy(const std::string& from, const std::string& to, std::int64_t count) = 0;

  /// Adds a function that formulas call to the file.
  virtual void need(std::string_view /*function*/) {}
  /// Sets `count` elements of a value's derivative to a formula of its operands.
  virtual void each_tangent(std::int64_t count, const std::vector<FormulaOperand>& operands,
                            Value to, const std::string& formula) = 0;
  /// Writes a node's derivatives with what its operator writes, which has to be linear.
  void write_tangents(const Node& node);
  /// Returns the input by which all is differentiated. Throws Error unless the network has exactly
  /// one of numbers.
  Value differentiated() const;
  /// Returns where a value's derivatives are, as arguments.
  std::string tangent_at(Value value);
  /// Returns whether the value has derivatives: neither a constant nor an input of ids.
  bool has_tangent(Value value) const;

 protected:
  const InferenceGraph& g() const { return *g_; }
  /// Goes on with another graph of the same parameters, which must outlive its use.
  void use(const InferenceGraph& graph) { g_ = &graph; }
  /// Makes write_nodes() write derivatives beside the values, or stops it.
  void set_derives(bool on) { derives_ = on; }
  bool derives() const { return derives_; }
  /// Returns the node that is being written.
  const Node& node() const { return graph().nodes()[node_]; }
  /// Writes every node of the graph.
  void write_nodes();
  /// Returns an element of the memory of all that is computed, as arguments.
  virtual std::string memory_at(std::size_t offset) const = 0;
  /// Returns the same of the memory of ids. Throws Error where the language has none.
  virtual std::string ids_at(std::size_t offset) const = 0;
  /// Returns the same of the memory of levels.
  virtual std::string levels_at(std::size_t offset) const;
  /// Returns an input's first element, as arguments; `name`: an identifier.
  virtual std::string input_at(const std::string& name) const = 0;
  virtual void comment(const std::string& text) = 0;

 private:
  std::string no_levels() const;

  const InferenceGraph* g_;
  std::vector<Tensor> values_;
  std::size_t node_ = 0;
  bool of_tangents_ = false;
  bool derives_ = false;
};

/// Writes a node's code. Throws Error where its operator has none.
void write_operator(OperatorFile& file, const Node& node);
/// Writes a node's code, and beside it that of its outputs' derivatives: the tangents of its
/// operands lie where the operands themselves do, in an array of their own. Throws Error where its
/// operator has none.
void write_with_tangents(OperatorFile& file, const Node& node);
/// Returns whether there is code for nodes of an operator.
bool can_write(const Op& op);
/// Returns whether a node rounds weights: those of a parameter are rounded when the file is
/// written.
bool is_rounded_weight(const Node& node);
/// Returns how many floats the node wants for itself.
std::size_t scratch_of(const Graph& graph, const Node& node);

/// Returns the index of b's element that goes with a's element i, where b is repeated: along a's
/// first axes by "i % p", along the last ones by "i / q % p", along both and one between by their
/// sum.
std::string index_of_b(const Shape& a, const Shape& b);

/// Returns items with commas between them, in lines of at most `width` characters.
std::string listed_in_lines(const std::vector<std::string>& items, std::size_t width = 110);
/// Returns the shortest text that reads back to the same number, always with a point or exponent.
std::string decimal(float value);
std::string decimal(double value);
/// Returns a name of the network as an identifier: "gru_1.last" as "gru_1_last".
std::string identifier(const std::string& name);
/// Returns text for a comment or a string: all but harmless printable ASCII becomes '_'.
std::string harmless(const std::string& text);
/// Returns whether a text is an identifier of C, Java and PHP.
bool is_identifier(std::string_view text);

}  // namespace linnet
