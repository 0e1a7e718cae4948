// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/attributes.h"
#include "graph/step.h"
#include "graph/steps_rule.h"
#include "graph/value.h"

namespace linnet {

class Graph;
struct Node;

/// The places of operands in helpers that serve several operators. An operator names its own:
/// `args.in(BatchNormOp::In::gamma)`.
inline constexpr std::size_t kFirst = 0;
inline constexpr std::size_t kSecond = 1;

/// Arithmetic and least memory traffic of one execution.
struct Cost {
  double flops = 0;
  double bytes = 0;
};

/// A value of the double-precision reference, whatever its type is elsewhere.
struct ReferenceTensor {
  Shape shape;
  std::vector<double> data;

  double& operator[](std::int64_t i) { return data[static_cast<std::size_t>(i)]; }
  double operator[](std::int64_t i) const { return data[static_cast<std::size_t>(i)]; }
};

/// Operands of Op::reference. Outputs come sized and filled with NaN. A mutated input (Op::mutates)
/// may be written through `inputs`.
struct ReferenceArgs {
  std::span<ReferenceTensor* const> inputs;
  std::span<ReferenceTensor* const> outputs;
  const StepInfo& step;

  ReferenceTensor& in(std::size_t i) const { return *inputs[i]; }
  ReferenceTensor& out(std::size_t i) const { return *outputs[i]; }
};

/// Arguments of Op::gradient: the node, and the gradient of the loss by each of its outputs
/// (empty where the loss does not depend on that output). `needed[i]` tells whether input i's is
/// read.
struct GradientArgs {
  Graph& graph;
  const Node& node;
  std::span<const Value> output_gradients;
  const std::vector<bool>& needed;
};

/// An operator with its attributes: immutable, shared by the nodes that use it. One folder of
/// src/ops/ defines one operator; backends add their kernels by name. Its class names the places of
/// its operands and results once, in `enum In` and `enum Out`, for all of its files.
class Op {
 public:
  virtual ~Op() = default;

  /// Returns the name in dumps, files and kernel registries, e.g. "conv2d".
  virtual std::string_view name() const = 0;
  /// Returns the name under which backends register its kernels.
  virtual std::string_view kernels() const { return name(); }
  virtual Attributes attributes() const = 0;
  /// Same operator with equal attributes.
  virtual bool same(const Op& other) const = 0;

  /// Types of the outputs. Throws Error (the graph adds the operator and the layer's name) where
  /// the inputs don't fit.
  virtual std::vector<ValueType> infer(std::span<const ValueType> inputs) const = 0;
  /// Adds the nodes that compute the gradients of the inputs; an empty Value means zero or none.
  /// The default throws: not differentiable.
  virtual std::vector<Value> gradient(const GradientArgs& args) const;
  /// The definition, in double precision and with no thought of speed.
  virtual void reference(const ReferenceArgs& args) const = 0;
  /// The default counts one FLOP per output element and every operand once.
  virtual Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const;

  /// Output 0 is input 0's memory under another shape: no kernel runs.
  virtual bool is_view() const { return false; }
  /// Inputs whose memory output 0 may take over if nobody reads them later (the kernel reads each
  /// element before it writes the same one).
  virtual std::vector<int> in_place() const { return {}; }
  /// Bytes at which the inputs, in order, may lie inside output 0: an input that does is not
  /// copied.
  virtual std::vector<std::size_t> places_in_result() const { return {}; }
  /// Inputs that the node writes as well: optimizer state, running statistics, metrics. Such a node
  /// is never dead.
  virtual bool mutates(std::size_t /*input*/) const { return false; }
  /// Whether it finds the gradients of its parameters itself, by its own loss: they are those of
  /// the loss as it is, never of a scaled one.
  virtual bool finds_gradients() const { return false; }
  /// Returns what becomes of the steps of operand `operand`, of shape x, where it holds sequences
  /// of different lengths; y is the shape of output 0. The default: they are mixed with padding.
  virtual StepsRule steps(std::size_t /*operand*/, const Shape& /*x*/, const Shape& /*y*/) const {
    return steps::kMixed;
  }
  /// Returns the operator that stands here at inference; null: the node falls away and its input 0
  /// stands for its output 0. The default is itself. Inputs beyond its own are dropped.
  virtual std::shared_ptr<const Op> at_inference(std::shared_ptr<const Op> self) const {
    return self;
  }
};

using OpPtr = std::shared_ptr<const Op>;

/// Gives an operator its name, equality and serialization from a struct of attributes, which has a
/// defaulted == and `template <class V> void fields(V&& visit)` calling visit("name", field).
template <class Self, class Attrs>
class OpBase : public Op {
 public:
  explicit OpBase(Attrs attributes = {}) : attrs_(std::move(attributes)) {}

  const Attrs& attrs() const { return attrs_; }
  std::string_view name() const final { return Self::kName; }
  bool same(const Op& other) const final {
    const auto* typed = dynamic_cast<const Self*>(&other);
    return typed != nullptr && typed->attrs_ == attrs_;
  }
  Attributes attributes() const final {
    Attributes out;
    Attrs copy = attrs_;
    copy.fields(AttributeWriter(out));
    return out;
  }
  /// Throws Error on missing, unknown or wrongly typed attributes.
  static OpPtr read(const Attributes& in) {
    Attrs attributes;
    AttributeReader reader(Self::kName, in);
    attributes.fields(reader);
    reader.finish();
    return std::make_shared<Self>(std::move(attributes));
  }

 private:
  Attrs attrs_;
};

/// Attributes of an operator that has none.
struct NoAttributes {
  template <class V>
  void fields(V&& /*visit*/) {}
  bool operator==(const NoAttributes&) const = default;
};

}  // namespace linnet
