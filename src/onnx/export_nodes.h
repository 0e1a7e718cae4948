// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/exporter.h"

namespace linnet::onnx {

/// Adds nodes of one layer, whose values keep the order of their operand's axes.
class Nodes {
 public:
  Nodes(Exporter& e, const Node& node) : e_(e), node_(node) {}
  std::string operator()(std::string_view op, const std::vector<std::string>& inputs,
                         AttributeList attributes = {}) {
    return e_.file().node(op, inputs, node_.name, std::move(attributes));
  }
  std::int64_t opset() const { return e_.file().opset(); }
  std::string number(double value) { return e_.file().number(node_.name + ".number", value); }
  std::string times(const std::string& x, double by) { return (*this)("Mul", {x, number(by)}); }
  std::string plus(const std::string& x, double by) { return (*this)("Add", {x, number(by)}); }

 private:
  Exporter& e_;
  const Node& node_;
};

/// Writes an operator of one operand; `f` returns the result's name.
template <class F>
void keep_axes(Exporter& e, const Node& node, F f) {
  const Value x = node.inputs[0];
  const Form form = e.parameter(x) != nullptr ? Form::plain : e.form_of(x);
  e.set(node.outputs[0], form, f(e.in(x, form)));
  if (form == Form::flat) e.set_image(node.outputs[0], e.image_of(x));
}

/// Two operands under the axes of the first; the second one's are its last ones, or 1.
struct Both {
  Form form = Form::plain;
  std::string a;
  std::string b;
};
Both both_of(Exporter& e, Value a, Value b);

/// Writes an operator of two operands; `f` returns the name of the result of both.
template <class F>
void combine(Exporter& e, const Node& node, F f) {
  const Value a = node.inputs[0];
  const Both both = both_of(e, a, node.inputs[1]);
  e.set(node.outputs[0], both.form, f(both.a, both.b));
  if (both.form == Form::flat) e.set_image(node.outputs[0], e.image_of(a));
}

}  // namespace linnet::onnx
