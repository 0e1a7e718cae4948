// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/importer.h"

namespace linnet::onnx {

/// Returns a constant that is the same for every sample, with 1 as the dim of that axis. Throws
/// DataError where samples differ.
ConstantPtr without_batch(const Constant& c, std::size_t axis);

/// Operands brought to common axes: expressions that functions of two operands take as they are.
struct Aligned {
  std::vector<Expression> operands;
  std::vector<Axis> axes;  ///< of the result of an element-wise function
};

/// A node that is being read: what an operator's import works on. Attributes that nobody asked for
/// are refused, and so are outputs that nobody gave.
class NodeImport {
 public:
  NodeImport(Importer& importer, const NodeProto& node);

  Importer& network() { return importer_; }
  const Importer& network() const { return importer_; }
  std::string_view op() const { return node_.op_type; }
  const std::string& name() const { return name_; }
  std::int64_t opset() const { return importer_.model().opset; }

  std::size_t inputs() const { return node_.inputs.size(); }
  std::size_t outputs() const { return node_.outputs.size(); }
  bool has(std::size_t input) const;
  /// Returns whether an output is read by anybody.
  bool wants(std::size_t output) const;
  const FileValue& input(std::size_t i) const;
  bool is_constant(std::size_t i) const { return has(i) && input(i).constant != nullptr; }
  /// Throws DataError for a value that depends on the inputs.
  const ConstantPtr& constant(std::size_t i) const;
  /// Returns the numbers of a constant that does not depend on the batch's size.
  std::vector<std::int64_t> integers(std::size_t i) const;
  /// Returns the only element of a constant.
  double scalar(std::size_t i) const;
  /// Returns scalar() as an integer: rounded towards zero, and one of the least and the largest
  /// where it is beyond them.
  std::int64_t whole(std::size_t i) const;
  /// Returns the value, in this node's scope. Throws DataError for a constant.
  Trace trace(std::size_t i) const;
  /// Returns the same, of floats.
  Trace floats(std::size_t i) const;
  std::vector<FileValue> all() const;

  bool has_attribute(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise);
  /// Returns an attribute that is 0 or 1. Throws DataError for another number.
  bool flag(std::string_view name, bool otherwise);
  double number(std::string_view name, double otherwise);
  std::string text(std::string_view name, std::string_view otherwise);
  std::vector<std::int64_t> integers(std::string_view name,
                                     const std::vector<std::int64_t>& otherwise = {});
  std::vector<double> numbers(std::string_view name);
  std::vector<std::string> texts(std::string_view name);
  const TensorProto& tensor(std::string_view name);
  /// An attribute whose value changes nothing here.
  void ignore(std::string_view name) { read_.insert(std::string(name)); }
  /// Returns an axis of `rank`, counted from its end if negative. Throws DataError for another one.
  int axis(std::int64_t axis, std::size_t rank) const;

  /// Returns the operands with their axes brought together as ONNX's broadcasting does; `last`: so
  /// many axes of each at the end stay as they are, one axis each.
  Aligned align(std::vector<FileValue> operands, std::size_t last = 0);
  /// Returns a constant as a weight in this node's scope.
  Expression weight(const ConstantPtr& constant, const Layout& layout);
  /// Returns 0 for each sample, with `rank` axes of 1: what makes a constant a value.
  Expression zero_of_samples(std::size_t rank) const;
  /// Returns a layer's name after the initializer that holds its weight, or after the node.
  std::string layer_name(const Constant& weight) const;
  /// Returns the expression in this node's scope: it names the operators that are made of it.
  Expression scoped(const Expression& e) const;
  /// Returns the expression, with the type and the axes of the trace.
  Trace as(const Trace& t, const Expression& e) const { return {e, t.axes, t.type}; }

  /// Returns a value of ids whose largest is known as numbers. Throws DataError for other ids.
  FileValue with_numbers(const FileValue& value);

  void give(FileValue value, std::size_t output = 0);
  /// The addition of a constant that alone reads this node's output.
  struct Bias {
    const NodeProto* add;
    ConstantPtr constant;
  };
  /// Returns it where there is one.
  std::optional<Bias> bias_after() const;
  /// Returns what `import` gives with other constants for some inputs, by output; null: nothing.
  std::vector<ConstantPtr> given_with(const std::map<std::size_t, ConstantPtr>& others,
                                      const std::function<void(NodeImport&)>& import);
  const NodeProto& node() const { return node_; }
  /// Throws DataError for attributes that were not read.
  void finish() const;

  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    throw DataError(fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  const Attribute* attribute(std::string_view name, AttributeKind kind);

  Importer& importer_;
  const NodeProto& node_;
  std::string name_;
  std::shared_ptr<const ExpressionScope> scope_;
  std::set<std::string, std::less<>> read_;
  const std::map<std::size_t, ConstantPtr>* others_ = nullptr;  ///< of given_with()
  std::vector<ConstantPtr>* given_ = nullptr;
};

/// Describes how an operator is read.
struct Operator {
  std::function<void(NodeImport&)> import;
  std::string limit;  ///< what of it is not supported, for the table of the documentation
};
using Operators = std::map<std::string, Operator, std::less<>>;

// Each adds the operators of its file.
void add_elementwise(Operators& all);
void add_shapes(Operators& all);
void add_parts(Operators& all);
void add_images(Operators& all);
void add_pools(Operators& all);
void add_resize(Operators& all);
void add_norms(Operators& all);
void add_products(Operators& all);
void add_recurrent(Operators& all);
void add_learned(Operators& all);
void add_vector_machines(Operators& all);
void add_trees(Operators& all);
void add_attention(Operators& all);
void add_places(Operators& all);
void add_quantized(Operators& all);
void add_grid(Operators& all);
void add_neighbours(Operators& all);

/// Returns a constant that no initializer holds; `role` names it after the node. Throws DataError
/// unless all numbers are finite.
ConstantPtr made_constant(NodeImport& n, std::string_view role, Dims dims,
                          std::vector<double> values, bool trains = false);
/// Returns the same as an expression.
Expression made_weight(NodeImport& n, std::string_view role, Dims dims, std::vector<double> values,
                       bool trains = false);

/// Returns x wᵀ + b of a constant weight of two axes, whose axis `units` (0 or 1) is that of the
/// result. `bias`: null, or a number for each unit.
Trace dense(NodeImport& n, const Trace& given, const ConstantPtr& w, int units,
            const ConstantPtr& bias);

/// Returns the product of matrices (..., m, k) and (..., k, n) of which one at least depends on the
/// inputs.
Trace matrix_product(NodeImport& n, FileValue a, FileValue b);

/// Returns infinities of a constant as the largest floats, since the weights of a file are finite:
/// a mask puts them before a softmax. A row that is masked whole is not a NaN then: see
/// masked_rows(). Throws DataError where anything else reads the node's result, unless `guarded`.
FileValue finite(NodeImport& n, const FileValue& v, bool guarded = false);

/// Returns a value's elements at these places along an axis. Throws DataError for places outside it
/// and for the batch.
Trace taken(Trace x, int axis, std::vector<std::int64_t> ids);

/// Throws DataError for types that are not computed in as f32, exactly below 2^24: all but floats
/// and whole numbers of 32 and 64 bits.
void require_arithmetic(const NodeImport& n, Type type);

/// Returns a value with a further axis, of 1, and the numbers 0, 1, ... below `count` along it,
/// brought to common axes.
Aligned beside_numbers(NodeImport& n, Trace value, std::int64_t count);

/// Returns numbers that the network computes as ids of a table of `rows` rows, from its end where
/// they are negative.
Trace ids_of_numbers(const Trace& numbers, std::int64_t rows);

/// Returns zeros of `dim` along an axis, with updates added at places along it: ids of each element
/// (`along`), or of what lies along the axis.
Expression scattered(const Expression& updates, const Expression& ids, std::int64_t axis,
                     bool along, std::int64_t dim);

/// Returns a^b, of operands that are repeated to a common shape.
Expression power_of(const Expression& a, const Expression& b);

/// Reads GatherElements and GatherND of a value that depends on the inputs.
void gather_elements_of_samples(NodeImport& n);
void gather_tuples_of_samples(NodeImport& n);

/// Returns which rows of a Softmax, whose results are input 0, are NaN in ONNX, since a mask's
/// infinities leave none of their scores; the axis stays, as 1. Throws DataError where input 0 is
/// the result of another operator.
Trace masked_rows(const NodeImport& n);

/// Gives the outputs of a node whose inputs are constants. Throws DataError for an operator that is
/// not computed on constants.
void fold(NodeImport& node);

}  // namespace linnet::onnx
