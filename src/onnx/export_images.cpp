// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/check.h"
#include "core/dims.h"
#include "onnx/export_nodes.h"
#include "onnx/exporter.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/bin_mean2d/bin_mean2d.h"
#include "ops/conv2d/conv2d.h"
#include "ops/conv_transpose2d/conv_transpose2d.h"
#include "ops/global_pool/global_pool.h"
#include "ops/group_norm/group_norm.h"
#include "ops/pool2d/pool2d.h"
#include "ops/upsample2d/upsample2d.h"

namespace linnet::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

AttributeList window(const Ints& kernel, const Ints& strides, const Ints& pads) {
  return {{"kernel_shape", kernel}, {"strides", strides}, {"pads", pads}};
}

AttributeList window(const Conv2dAttrs& a, const Shape& w) {
  AttributeList list = window({w[1], w[2]}, {a.stride_h, a.stride_w},
                              {a.pad_top, a.pad_left, a.pad_bottom, a.pad_right});
  list.emplace_back("dilations", Ints{a.dilation_h, a.dilation_w});
  list.emplace_back("group", a.groups);
  return list;
}

/// Weights (O, H, W, I) as (O, I, H, W).
std::string filters(Exporter& e, Value w) {
  const Shape& s = e.shape(w);
  return e.weight(w, dims_of(s), {0, 3, 1, 2}, {s[0], s[3], s[1], s[2]});
}

/// Writes a convolution, with the bias that is added to it alone; its output's name is set.
void convolution(Exporter& e, const Node& node, std::string_view op, AttributeList attributes) {
  std::vector<std::string> inputs = {e.in(node.inputs[0], Form::channels),
                                     filters(e, node.inputs[1])};
  const Value y = e.with_bias(node, inputs);
  e.set(y, Form::channels, e.file().node(op, inputs, node.name, std::move(attributes)));
}

/// Writes a Conv3d in place of its conv2d.
void conv3d(Exporter& e, const Node& node, const Conv2dAttrs& a, const Exporter::Volumes& volumes) {
  const auto& [x, count, stride, dilation, front, back, made] = volumes.planes;
  const Value weight = node.inputs[Conv2dOp::In::w];
  const Shape& w = e.shape(weight);  // (O, H, W, D I)
  const std::int64_t in = w[3] / count;
  std::vector<std::string> inputs = {e.in(x, Form::channels),
                                     e.weight(weight, {w[0], w[1], w[2], count, in},
                                              {0, 4, 3, 1, 2}, {w[0], in, count, w[1], w[2]})};
  e.with_bias(node, inputs);
  AttributeList list = window({count, w[1], w[2]}, {stride, a.stride_h, a.stride_w},
                              {front, a.pad_top, a.pad_left, back, a.pad_bottom, a.pad_right});
  list.emplace_back("dilations", Ints{dilation, a.dilation_h, a.dilation_w});
  list.emplace_back("group", a.groups);
  e.set(volumes.result->outputs[0], Form::channels,
        e.file().node("Conv", inputs, node.name, std::move(list)));
}

void conv2d(Exporter& e, const Node& node, const Op& op) {
  const Conv2dAttrs& attrs = dynamic_cast<const Conv2dOp&>(op).attrs();
  if (attrs.bias || attrs.activation != Activation::none) {
    Exporter::refuse(node, "it is fused with the next operator");
  }
  if (const Exporter::Volumes* volumes = e.volumes(node)) return conv3d(e, node, attrs, *volumes);
  convolution(e, node, "Conv", window(attrs, e.shape(node.inputs[1])));
}

void conv_transpose2d(Exporter& e, const Node& node, const Op& op) {
  const Conv2dGradInputAttrs& attrs = dynamic_cast<const ConvTranspose2dOp&>(op).attrs();
  const Conv2dAttrs& a = attrs.conv;
  const Shape& x = e.shape(node.inputs[0]);
  const Shape& w = e.shape(node.inputs[1]);
  // The rows and columns of the output that the windows do not reach.
  const auto rest = [](std::int64_t out, std::int64_t in, std::int64_t stride, std::int64_t kernel,
                       std::int64_t dilation, std::int64_t before, std::int64_t after) {
    return out - ((in - 1) * stride + (kernel - 1) * dilation + 1 - before - after);
  };
  const Ints more = {rest(attrs.in_h, x[1], a.stride_h, w[1], a.dilation_h, a.pad_top,
                          a.pad_bottom),
                     rest(attrs.in_w, x[2], a.stride_w, w[2], a.dilation_w, a.pad_left,
                          a.pad_right)};
  AttributeList list = window(a, w);
  list.emplace_back("output_padding", more);
  convolution(e, node, "ConvTranspose", std::move(list));
}

void batch_norm(Exporter& e, const Node& node, const Op& op) {
  const BatchNormAttrs& attrs = dynamic_cast<const BatchNormInferenceOp&>(op).attrs();
  if (attrs.residual || attrs.activation != Activation::none) {
    Exporter::refuse(node, "it is fused with the next operator");
  }
  const Form form = e.shape(node.inputs[0]).rank() == 2 ? Form::plain : Form::channels;
  std::vector<std::string> inputs = {e.in(node.inputs[0], form)};
  for (std::size_t i = 1; i < 5; ++i) inputs.push_back(e.in(node.inputs[i], Form::plain));
  e.set(node.outputs[0], form,
        e.file().node("BatchNormalization", inputs, node.name, {{"epsilon", attrs.epsilon}}));
}

void pool(Exporter& e, const Node& node, std::string_view op, const Pool2dAttrs& a, bool counts) {
  AttributeList list = window({a.size_h, a.size_w}, {a.stride_h, a.stride_w},
                              {a.pad_top, a.pad_left, a.pad_bottom, a.pad_right});
  if (counts) list.emplace_back("count_include_pad", std::int64_t{1});
  e.set(node.outputs[0], Form::channels,
        e.file().node(op, {e.in(node.inputs[0], Form::channels)}, node.name, std::move(list)));
}

/// Returns the means of bins of an axis as a product: (out, in).
std::string bins(Exporter& e, const Node& node, std::int64_t in, std::int64_t out, bool columns) {
  std::vector<float> matrix(static_cast<std::size_t>(in * out), 0);
  for (std::int64_t i = 0; i < out; ++i) {
    const std::int64_t begin = i * in / out;
    const std::int64_t end = ((i + 1) * in + out - 1) / out;
    for (std::int64_t k = begin; k < end; ++k) {
      matrix[static_cast<std::size_t>(columns ? k * out + i : i * in + k)] =
          1.0F / static_cast<float>(end - begin);
    }
  }
  return e.file().floats(node.name + ".bins", columns ? Dims{in, out} : Dims{out, in}, matrix);
}

void bin_mean2d(Exporter& e, const Node& node, const Op& op) {
  const BinMean2dAttrs& a = dynamic_cast<const BinMean2dOp&>(op).attrs();
  const Shape& x = e.shape(node.inputs[0]);
  const std::string in = e.in(node.inputs[0], Form::channels);
  if (a.size_h == 0) {
    const std::string rows =
        e.file().node("MatMul", {bins(e, node, x[1], a.out_h, false), in}, node.name);
    e.set(node.outputs[0], Form::channels,
          e.file().node("MatMul", {rows, bins(e, node, x[2], a.out_w, true)}, node.name));
    return;
  }
  const auto after = [](std::int64_t out, std::int64_t stride, std::int64_t size,
                        std::int64_t before, std::int64_t pixels) {
    return std::max<std::int64_t>((out - 1) * stride + size - before - pixels, 0);
  };
  const Ints pads = {a.pad_top, a.pad_left, after(a.out_h, a.stride_h, a.size_h, a.pad_top, x[1]),
                     after(a.out_w, a.stride_w, a.size_w, a.pad_left, x[2])};
  e.set(node.outputs[0], Form::channels,
        e.file().node("AveragePool", {in}, node.name,
                      window({a.size_h, a.size_w}, {a.stride_h, a.stride_w}, pads)));
}

void pool_all(Exporter& e, const Node& node, std::string_view op) {
  const std::string pooled = e.file().node(op, {e.in(node.inputs[0], Form::channels)}, node.name);
  e.set(node.outputs[0], Form::plain, e.file().node("Flatten", {pooled}, node.name));
}

void upsample2d(Exporter& e, const Node& node, const Op& op) {
  const Upsample2dAttrs& attrs = dynamic_cast<const Upsample2dOp&>(op).attrs();
  const std::string x = e.in(node.inputs[0], Form::channels);
  const std::string first = e.first_dims(node, x, 2);
  const std::string size = e.file().integers(node.name + ".size", {2}, {attrs.out_h, attrs.out_w});
  const std::string sizes =
      e.file().node("Concat", {first, size}, node.name, {{"axis", std::int64_t{0}}});
  const bool nearest = attrs.mode == Upsampling::nearest;
  AttributeList list = {{"mode", std::string(nearest ? "nearest" : "linear")},
                        {"coordinate_transformation_mode",
                         std::string(nearest ? "asymmetric" : "half_pixel")}};
  if (nearest) list.emplace_back("nearest_mode", std::string("floor"));
  e.set(node.outputs[0], Form::channels,
        e.file().node("Resize", {x, "", "", sizes}, node.name, std::move(list)));
}

/// Writes LayerNormalization, or before opset 17 what it is made of.
void layer_norm(Exporter& e, const Node& node, const GroupNormAttrs& attrs) {
  if (e.file().opset() < 17) {
    Nodes n(e, node);
    Ints axes;
    const auto rank = static_cast<std::int64_t>(e.shape(node.inputs[0]).rank());
    for (std::int64_t axis = attrs.rows; axis < rank; ++axis) axes.push_back(axis);
    const std::string x = e.in(node.inputs[0], Form::plain);
    const std::string apart = n("Sub", {x, e.reduced(node, "ReduceMean", x, axes, true)});
    const std::string variance =
        e.reduced(node, "ReduceMean", n("Mul", {apart, apart}), axes, true);
    const std::string normed = n("Div", {apart, n("Sqrt", {n.plus(variance, attrs.epsilon)})});
    const std::string scaled = n("Mul", {normed, e.in(node.inputs[1], Form::plain)});
    e.set(node.outputs[0], Form::plain, n("Add", {scaled, e.in(node.inputs[2], Form::plain)}));
    return;
  }
  e.set(node.outputs[0], Form::plain,
        e.file().node("LayerNormalization",
                      {e.in(node.inputs[0], Form::plain), e.in(node.inputs[1], Form::plain),
                       e.in(node.inputs[2], Form::plain)},
                      node.name, {{"axis", attrs.rows}, {"epsilon", attrs.epsilon}}));
}

/// As instance norm of (N, groups, elements), then the scale of each channel.
void group_norm(Exporter& e, const Node& node, const Op& op) {
  const GroupNormAttrs& attrs = dynamic_cast<const GroupNormOp&>(op).attrs();
  const Shape& x = e.shape(node.inputs[0]);
  const auto rank = static_cast<std::int64_t>(x.rank());
  if (attrs.groups == 1 && attrs.rows + attrs.channels == rank) {
    layer_norm(e, node, attrs);
    return;
  }
  if (attrs.rows != 1 || attrs.channels != 1) {
    Exporter::refuse(node, "it normalises {} axes of {}; expected all after the batch",
                     rank - attrs.rows, to_string(x));
  }
  const Form form = rank == 2 ? Form::plain : Form::channels;
  GraphWriter& file = e.file();
  Dims groups = {-1, attrs.groups, x.sample().elements() / attrs.groups};
  const std::string parts =
      file.node("Reshape",
                {e.in(node.inputs[0], form), file.integers(node.name + ".groups", {3}, groups)},
                node.name);
  const auto count = static_cast<std::size_t>(attrs.groups);
  const std::string normed =
      file.node("InstanceNormalization",
                {parts,
                 file.floats(node.name + ".ones", {attrs.groups}, std::vector<float>(count, 1)),
                 file.floats(node.name + ".zeros", {attrs.groups}, std::vector<float>(count, 0))},
                node.name, {{"epsilon", attrs.epsilon}});
  Dims back = dims_of(x);
  if (form == Form::channels) std::rotate(back.begin() + 1, back.end() - 1, back.end());
  back[0] = -1;
  const std::string whole =
      file.node("Reshape", {normed, file.integers(node.name + ".shape", {rank}, back)}, node.name);
  Dims each(static_cast<std::size_t>(rank) - 1, 1);
  each.front() = x[-1];
  const std::string scaled =
      file.node("Mul", {whole, e.weight(node.inputs[1], {x[-1]}, {0}, each)}, node.name);
  e.set(node.outputs[0], form,
        file.node("Add", {scaled, e.weight(node.inputs[2], {x[-1]}, {0}, each)}, node.name));
}

}  // namespace

void add_image_export(ExportOperators& all) {
  all["conv2d"] = conv2d;
  all["conv_transpose2d"] = conv_transpose2d;
  all["batch_norm_inference"] = batch_norm;
  all["max_pool2d"] = [](Exporter& e, const Node& node, const Op& op) {
    pool(e, node, "MaxPool", dynamic_cast<const MaxPool2dOp&>(op).attrs(), false);
  };
  all["avg_pool2d"] = [](Exporter& e, const Node& node, const Op& op) {
    pool(e, node, "AveragePool", dynamic_cast<const AvgPool2dOp&>(op).attrs(), true);
  };
  all["bin_mean2d"] = bin_mean2d;
  all["global_avg_pool"] = [](Exporter& e, const Node& node, const Op& /*op*/) {
    pool_all(e, node, "GlobalAveragePool");
  };
  all["global_max_pool"] = [](Exporter& e, const Node& node, const Op& /*op*/) {
    pool_all(e, node, "GlobalMaxPool");
  };
  all["upsample2d"] = upsample2d;
  all["group_norm"] = group_norm;
}

}  // namespace linnet::onnx
