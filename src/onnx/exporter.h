// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "nn/definition.h"
#include "nn/layers/volumes.h"
#include "onnx/graph_writer.h"
#include "onnx/kept_ports.h"

namespace linnet::onnx {

/// The orders of axes in which a value stands in the file.
enum class Form : std::uint8_t {
  plain,     ///< as in the network: (N, H, W, C)
  channels,  ///< the last axis as the second one: (N, C, H, W)
  flat,      ///< (N, C H W) where the network has (N, H W C)
};

/// The ONNX graph that is being made of a model.
class Exporter {
 public:
  Exporter(const Model& model, std::int64_t opset);
  /// Throws Error naming the layer that ONNX has no operators for.
  void run();
  GraphWriter& file() { return file_; }

  const Graph& graph() const { return definition_.graph; }
  const Shape& shape(Value v) const { return definition_.graph.shape(v); }
  /// Returns whether a value is a weight or a running statistic.
  const ParameterSpec* parameter(Value v) const;
  /// Returns whether the value's first axis is the batch.
  bool is_batched(Value v) const;

  /// Returns the value's name in this order of axes; adds what brings it there.
  std::string in(Value v, Form form);
  /// Returns the same in the order that it has.
  std::string as_it_is(Value v);
  bool has(Value v, Form form) const;
  /// Returns the order in which an operator that keeps every axis takes its operand.
  Form form_of(Value v) const;
  /// Returns the dims of a flat value's image; (): it is none.
  Shape image_of(Value v) const;
  /// Says that a value stands in the file as `name`.
  void set(Value v, Form form, const std::string& name);
  /// The same elements as `from`, in all its orders.
  void alias(Value v, Value from);
  void set_image(Value v, const Shape& image);

  /// Returns a weight with its axes in another order, under `dims`; a value of weights is
  /// transposed by nodes. `view`: its dims before that, of as many elements.
  std::string weight(Value v, const Dims& view, const std::vector<std::int64_t>& order,
                     const Dims& dims);
  std::vector<float> numbers(Value v) const;
  /// Returns Form::channels for images that the file holds so, else Form::plain.
  Form images_or_plain(Value v) const;
  /// Adds an initializer `NODE.name` of these numbers in one axis.
  std::string integers(const Node& node, std::string_view name,
                       const std::vector<std::int64_t>& values);
  /// Adds a reduction, e.g. "ReduceMean", by the rules of the file's opset; axes must be sorted.
  std::string reduced(const Node& node, std::string_view op, const std::string& x,
                      const std::vector<std::int64_t>& axes, bool keep);
  /// Adds what gives the first `count` dims of `x`.
  std::string first_dims(const Node& node, const std::string& x, std::int64_t count);
  /// Returns `x` as another type.
  std::string cast(const Node& node, const std::string& x, Type type);
  /// Returns the weight that a value is rounded from to whole numbers of steps, or null.
  const ParameterSpec* rounded_weight(Value v) const;

  /// Returns the only reader of `v`, if it is an operator of this name and `v` is its first
  /// operand; null otherwise, and for an output.
  const Node* only_reader(Value v, std::string_view op) const;
  /// Adds to a product's inputs the bias that is added to it alone; the value that has both.
  Value with_bias(const Node& product, std::vector<std::string>& inputs);
  /// A Conv3d: what its conv2d convolves, and the reshape to volumes after it.
  struct Volumes {
    CoveredPlanes planes;
    const Node* result = nullptr;
  };
  /// Returns that of a conv2d; null: it is none of a Conv3d.
  const Volumes* volumes(const Node& conv) const;
  /// Says that a node's work has been done by another one.
  void skip(const Node& node) { skipped_.push_back(&node); }
  bool is_skipped(const Node& node) const;

  template <class... Args>
  [[noreturn]] static void refuse(const Node& node, fmt::format_string<Args...> format,
                                  Args&&... args) {
    throw Error(fmt::format("[{} '{}'] cannot be written as ONNX: {}", node.op->name(), node.name,
                            fmt::format(format, std::forward<Args>(args)...)));
  }

 private:
  struct Names {
    std::map<Form, std::string> forms;
    Shape image;  ///< (H, W, C) of a flat one
  };
  /// Weights in their order of axes, of which the first is the same as before.
  std::string write_rounded(const ParameterSpec& spec, const Dims& dims,
                            const std::vector<float>& values);
  void find_volumes();
  void add_inputs();
  void add_input_as(const NetworkInput& input, const KeptPort& port);
  void add_metadata();
  void add_outputs();
  /// Returns an output as the file had it from which the model was made.
  std::string output_as(const NetworkOutput& output, const KeptPort& port);
  /// Returns whether a value is written as (N, C, H, W), or (N, C, D, H, W).
  bool is_image(const Shape& shape) const {
    return shape.rank() == 4 || (shape.rank() == 5 && !volumes_.empty());
  }
  Names& names(Value v) { return names_[static_cast<std::size_t>(v.id)]; }

  const Model& model_;
  const NetworkDefinition& definition_;
  const KeptPorts kept_;
  GraphWriter file_;
  std::vector<Names> names_;
  std::vector<const Node*> skipped_;
  std::map<const Node*, Volumes> volumes_;                      ///< by their conv2d
  std::map<std::pair<int, std::string>, std::string> weights_;  ///< by value and layout
};

/// How an operator is written: the node, and its operator at inference.
using ExportOperator = std::function<void(Exporter&, const Node&, const Op&)>;
using ExportOperators = std::map<std::string, ExportOperator, std::less<>>;

/// Returns the place of an axis in this order of axes.
std::int64_t axis_in(Form form, std::int64_t axis, std::size_t rank);

// Each adds the operators of its file.
void add_elementwise_export(ExportOperators& all);
void add_gradient_export(ExportOperators& all);
void add_image_export(ExportOperators& all);
void add_product_export(ExportOperators& all);
void add_sequence_export(ExportOperators& all);

}  // namespace linnet::onnx
