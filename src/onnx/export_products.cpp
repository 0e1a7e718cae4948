// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "base/check.h"
#include "core/dims.h"
#include "onnx/exporter.h"
#include "ops/dense/dense.h"
#include "ops/gather/gather.h"
#include "ops/matmul/matmul.h"

namespace linnet::onnx {
namespace {

void dense(Exporter& e, const Node& node, const Op& op) {
  const DenseAttrs& attrs = dynamic_cast<const DenseOp&>(op).attrs();
  if (attrs.bias || attrs.activation != Activation::none) {
    Exporter::refuse(node, "it is fused with the next operator");
  }
  const Value x = node.inputs[0];
  const Value w = node.inputs[1];
  const Shape& s = e.shape(w);
  std::vector<std::string> inputs;
  if (e.parameter(x) == nullptr && e.has(x, Form::flat)) {
    const Shape image = e.image_of(x);  // the columns go from (H, W, C) to (C, H, W)
    inputs = {e.in(x, Form::flat),
              e.weight(w, {s[0], image[0], image[1], image[2]}, {0, 3, 1, 2}, {s[0], s[1]})};
  } else {
    inputs = {e.in(x, Form::plain), e.in(w, Form::plain)};
  }
  const Value y = e.with_bias(node, inputs);
  e.set(y, Form::plain, e.file().node("Gemm", inputs, node.name, {{"transB", std::int64_t{1}}}));
}

void matmul(Exporter& e, const Node& node, const Op& op) {
  const MatmulAttrs& a = dynamic_cast<const MatmulOp&>(op).attrs();
  const auto operand = [&](Value v, bool turned) {
    std::string name = e.in(v, Form::plain);
    if (!turned) return name;
    std::vector<std::int64_t> order(e.shape(v).rank());
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return e.file().node("Transpose", {name}, node.name, {{"perm", order}});
  };
  e.set(node.outputs[0], Form::plain,
        e.file().node("MatMul",
                      {operand(node.inputs[0], a.transpose_a),
                       operand(node.inputs[1], a.transpose_b)},
                      node.name));
}

}  // namespace

void add_product_export(ExportOperators& all) {
  all["dense"] = dense;
  all["matmul"] = matmul;
  all["gather"] = [](Exporter& e, const Node& node, const Op& /*op*/) {
    e.set(node.outputs[0], Form::plain,
          e.file().node("Gather",
                        {e.in(node.inputs[0], Form::plain), e.in(node.inputs[1], Form::plain)},
                        node.name, {{"axis", std::int64_t{0}}}));
  };
}

}  // namespace linnet::onnx
