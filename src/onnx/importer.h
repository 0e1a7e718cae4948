// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/onnx.h>
#include <linnet/state.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nn/builder.h"
#include "nn/expression_scope.h"
#include "onnx/constant.h"
#include "onnx/schema.h"
#include "onnx/trace.h"

namespace linnet::onnx {

/// A value of an ONNX graph: known when the file is read, or depending on the inputs.
struct FileValue {
  FileValue(ConstantPtr c) : constant(std::move(c)) {}  // NOLINT(*-explicit-*)
  FileValue(Trace t) : trace(std::move(t)) {}           // NOLINT(*-explicit-*)
  std::optional<Trace> trace;
  ConstantPtr constant;

  Type type() const { return trace ? trace->type : constant->type(); }
  Dims dims() const { return trace ? dims_of(*trace) : constant->dims(); }
};

/// Describes how a constant lies in a weight: `view` are dims of as many elements, in ONNX's order,
/// `order` the order in which the weight has them, `shape` the weight's own dims.
struct Layout {
  Dims view;
  std::vector<int> order;
  Dims shape;
  bool operator==(const Layout&) const = default;
};
/// Keeps the order.
Layout as_is(const Dims& dims);
/// With its axes in another order.
Layout in_order(const Dims& dims, const std::vector<int>& order);

/// Returns whether a node is an If.
bool is_if(const NodeProto& node);

/// The network that is being made of a file.
class Importer {
 public:
  Importer(const ModelProto& model, const OnnxImportOptions& options);

  /// Throws DataError naming the node, the input or the output that is not supported.
  void run();
  /// Result of run(), taken once.
  Network take_network();
  const State& weights() const { return weights_; }
  const std::vector<OnnxPort>& inputs() const { return inputs_; }
  const std::vector<OnnxPort>& outputs() const { return outputs_; }
  std::vector<OnnxPort> outputs_in_file() const;

  const ModelProto& model() const { return model_; }
  /// Returns the batch's size where the file has a fixed one, else kTemplateBatch.
  std::int64_t batch() const { return batch_; }
  /// Returns the same for an OnnxPort.
  std::int64_t batch_in_file() const { return batch_ == kTemplateBatch ? -1 : batch_; }
  /// Returns a name that nothing in the network has yet: `wanted`, or with a number.
  std::string unique_name(std::string wanted);
  /// Returns the scope of operators of this name.
  std::shared_ptr<const ExpressionScope> scope(const std::string& name);
  NetworkBuilder& builder() { return builder_; }

  /// Returns a constant as a weight, or as a statistic where it does not train. The same constant
  /// is the same weight, however often it is used.
  Expression weight(const ConstantPtr& constant, const Layout& layout,
                    const std::shared_ptr<const ExpressionScope>& scope);
  /// Returns whether an initializer is a weight already.
  bool is_weight(const Constant& constant) const;
  /// Sets "<layer>.<role>", a weight of a layer that was added, from a constant.
  void set_weight(const std::string& layer, const std::string& role, const ConstantPtr& constant,
                  const Layout& layout);
  /// The same from numbers.
  void set_weight(const std::string& layer, const std::string& role, std::vector<float> values);

  /// Returns the name of a constant that the file does not have: `wanted`, or a longer one where a
  /// value of the file is called that.
  std::string name_of_made(std::string wanted) const;
  /// Ids of [0, below) as numbers. Throws DataError where `below` is 0: unknown.
  Expression as_numbers(const Expression& ids, std::int64_t below, const std::string& name);

  /// Returns an initializer of strings; null: none is named so.
  const TensorProto* find_texts(std::string_view name) const;
  /// Says which classes a value's last axis stands for or, of labels, its numbers from 0 on.
  void name_classes(std::string_view value, std::vector<std::string> names, bool are_labels);
  /// Returns the names of the first output's classes; empty: the file has none.
  std::vector<std::string> class_names() const;

  /// Returns null where nothing of this name is known.
  const FileValue* find(std::string_view name) const;
  void define(std::string_view name, FileValue value);
  /// Returns how many nodes and outputs read a value.
  int uses(std::string_view name) const;
  /// Returns whether all that is computed of a value goes through one of these operators.
  bool goes_through(std::string_view name, std::span<const std::string_view> operators) const;
  /// Returns the node that computes a value; null: none does.
  const NodeProto* producer(std::string_view name) const;
  /// Returns the node that alone reads a value; null where none or several do, or an output is it.
  const NodeProto* only_reader(std::string_view name) const;
  /// Says that infinities of a mask have become finite numbers.
  void masks_rows() { masked_rows_ = true; }
  bool has_masked_rows() const { return masked_rows_; }
  /// Defines the outputs of a node of constants, computed in double precision as the network that
  /// it would be. `batch_axis`: of the constants that they become (Constant::batch_axis). Throws
  /// DataError for an operator that is not supported, or would take long.
  void compute(const NodeProto& node, int batch_axis = -1);
  /// Defines what a later node gives, which is then passed over.
  void define_for(const NodeProto& later, FileValue value);

 private:
  struct Uses {
    int count = 0;
    const NodeProto* reader = nullptr;  ///< one of them
  };
  /// Classes that a value stands for.
  struct Classes {
    std::vector<std::string> names;
    bool are_labels;
  };
  /// A weight of the network that holds a constant.
  struct Held {
    Expression e;
    Layout layout;
  };
  /// Returns an expression of all the constant's elements in ONNX's order and dims.
  Expression natural(const Held& held, const Constant& constant,
                     const std::shared_ptr<const ExpressionScope>& scope);
  /// Returns a transposed initializer as itself, so that both stay one weight.
  std::pair<ConstantPtr, Layout> untransposed(const ConstantPtr& constant,
                                              const Layout& layout) const;
  void add_initializer(const TensorProto& tensor);
  /// Counts what nodes read, those of their branches too; `within`: the node whose branch they are.
  void count_uses(const std::vector<NodeProto>& nodes, const NodeProto* within = nullptr,
                  int depth = 0);
  /// Adds the nodes of the branch that an If takes. Throws DataError for a condition that depends
  /// on the inputs.
  void add_branch(const NodeProto& node);
  void add_inputs();
  void add_input(const ValueProto& input);
  void add_constant_input(const ValueProto& input, const Dims& dims, double value);
  /// Returns the axis of an input that is the batch.
  std::size_t batch_of(const ValueProto& input) const;
  void add_node(const NodeProto& node);
  void add_outputs();
  void add_output(const ValueProto& output);
  /// Returns the classes of a value or of what it was made of, node by node; null: none.
  const Classes* classes_of(std::string_view name) const;
  /// Returns the rows of the smallest table that these ids are of; 0: of none that is known.
  std::int64_t rows_for(std::string_view ids) const;
  bool reaches(std::string_view name, const std::function<bool(const NodeProto&, std::size_t)>& is,
               const std::function<bool(const NodeProto&)>& passes) const;

  const ModelProto& model_;
  const OnnxImportOptions& options_;
  bool masked_rows_ = false;
  std::unique_ptr<NetworkDefinition> definition_;
  NetworkBuilder builder_;
  std::int64_t batch_ = kTemplateBatch;
  std::map<std::string, FileValue, std::less<>> values_;
  std::int64_t read_elements_ = 0;      ///< of constants that the file holds
  std::int64_t computed_elements_ = 0;  ///< of those in computed_
  std::set<const void*> computed_;
  std::map<std::string, Uses, std::less<>> uses_;
  std::set<const NodeProto*> passed_over_;
  std::deque<ModelProto> branches_;  ///< that are taken
  int nested_ = 0;                   ///< branches around a node that is being added
  std::map<std::string, const TensorProto*, std::less<>> texts_;  ///< initializers of strings
  std::map<std::string, Classes, std::less<>> classes_;
  std::map<std::string, std::string, std::less<>> unsupported_;  ///< outputs, and of which node
  std::map<std::string, Held, std::less<>> held_;                ///< by the constant's name
  std::map<std::int64_t, ConstantPtr> numbers_;                  ///< 0, 1, 2, ... by their count
  std::set<std::string, std::less<>> names_;
  State weights_;
  std::vector<OnnxPort> inputs_;
  std::vector<OnnxPort> outputs_;
  std::vector<std::pair<std::string, Value>> results_;
};

}  // namespace linnet::onnx
