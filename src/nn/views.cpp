// SPDX-License-Identifier: Apache-2.0
#include "nn/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "graph/add.h"
#include "ops/activation/activation.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/concat/concat.h"
#include "ops/slice/slice.h"
#include "ops/softmax/softmax.h"
#include "ops/strided_slice/strided_slice.h"

namespace linnet {
namespace {

constexpr const char* kName = "views";
constexpr int kHeight = 1;  // axes of images (N, H, W, C)
constexpr int kWidth = 2;

/// A form in which the images are seen.
struct View {
  std::string name;  ///< before the names of its operators; empty: the images as they are
  Value images;
  double share = 1;
};

/// Returns `count` elements along an axis, the first of them `begin`, each one before the last.
Value backwards(Graph& graph, Value x, int axis, std::int64_t begin, std::int64_t count) {
  return graph.emit(StridedSliceOp({.axis = axis, .begin = begin, .step = -1, .count = count}), {x},
                    kName);
}

/// Returns images moved by `shift` pixels along an axis; what comes in is mirrored at the edge.
Value moved(Graph& graph, Value x, int axis, std::int64_t shift) {
  const std::int64_t size = graph.shape(x)[axis];
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    return graph.emit(SliceOp({.axis = axis, .begin = begin, .end = end}), {x}, kName);
  };
  std::vector<Value> parts;
  if (shift > 0) {
    parts = {backwards(graph, x, axis, shift, shift), part(0, size - shift)};
  } else {
    parts = {part(-shift, size), backwards(graph, x, axis, size - 2, -shift)};
  }
  return graph.emit(ConcatOp({.axis = axis}), std::move(parts), kName);
}

std::vector<View> add_views(Graph& graph, Value images, const TestViews& how) {
  std::vector<View> views{{.name = "", .images = images}};
  if (how.shift > 0) {
    views[0].share = 0.5;
    for (const std::int64_t shift : {how.shift, -how.shift}) {
      const Value down = moved(graph, images, kHeight, shift);
      views.push_back({.name = shift > 0 ? "moved_down." : "moved_up.",
                       .images = moved(graph, down, kWidth, shift),
                       .share = 0.25});
    }
  }
  if (!how.flip) return views;
  const std::size_t plain = views.size();
  for (std::size_t i = 0; i < plain; ++i) {
    views[i].share /= 2;
    const std::int64_t width = graph.shape(views[i].images)[kWidth];
    views.push_back({.name = "flipped." + views[i].name,
                     .images = backwards(graph, views[i].images, kWidth, width - 1, width),
                     .share = views[i].share});
  }
  return views;
}

/// Returns an operator of with_views(), as a node of the type; null for any other node.
template <class O>
const O* own_op(const Node* node) {
  if (node == nullptr || node->name != kName || node->inputs.empty()) return nullptr;
  return dynamic_cast<const O*>(node->op.get());
}

/// What with_views() made of an output.
struct Averaged {
  Value one = {};   ///< that is averaged, of the images as they are; empty: nothing is
  OpPtr last = {};  ///< of the average; null: the average is the output
};

Averaged averaged_in(const Graph& graph, Value output) {
  Averaged found;
  const Node* node = graph.producer(output);
  if (own_op<ArithmeticOp>(node) == nullptr && own_op<Op>(node) != nullptr) {
    found.last = node->op;
    node = graph.producer(node->inputs.front());
  }
  while (own_op<ArithmeticOp>(node) != nullptr) node = graph.producer(node->inputs.front());
  if (own_op<ScaleOp>(node) != nullptr) found.one = node->inputs.front();
  return found;
}

/// Returns the pixels after "shift="; 0 where they are none.
std::int64_t shift_of(std::string_view number) {
  std::int64_t pixels = 0;
  const char* end = number.data() + number.size();
  const auto [stopped, error] = std::from_chars(number.data(), end, pixels);
  return error == std::errc{} && stopped == end ? std::max<std::int64_t>(pixels, 0) : 0;
}

/// Returns the node of a last Softmax, LogSoftmax or Sigmoid: views are averaged before it.
const Node* last_activation(const Graph& graph, Value output) {
  const Node* last = graph.producer(output);
  if (last == nullptr) return nullptr;
  const Op* op = last->op.get();
  const auto* activation = dynamic_cast<const ActivationOp*>(op);
  const bool counts = dynamic_cast<const SoftmaxOp*>(op) != nullptr ||
                      dynamic_cast<const LogSoftmaxOp*>(op) != nullptr ||
                      (activation != nullptr && activation->attrs().kind == Activation::sigmoid);
  return counts ? last : nullptr;
}

void check_views(const NetworkDefinition& network, const TestViews& views) {
  const NetworkInput& input = network.inputs.front();
  require(input.sample.rank() == 3 && input.dtype == DType::f32,
          "views are of images: expected (height, width, channels) as the input '{}'; got {} {}",
          input.name, to_string(input.dtype), to_string(input.sample));
  require(views.flip || views.shift != 0, "expected a flip, a shift or both as views; got none");
  const std::int64_t least = std::min(input.sample[0], input.sample[1]);
  require(views.shift >= 0 && views.shift < least,
          "expected views shifted by 0 to {} pixels of images of {}; got {}", least - 1,
          to_string(input.sample), views.shift);
  for (std::size_t i = 0; i < network.outputs.size(); ++i) {
    require(network.output_sample(i).rank() <= 1,
            "views average numbers of the whole image; the output '{}' has {} a sample",
            network.outputs[i].name, to_string(network.output_sample(i)));
  }
}

/// Adds the nodes that depend on the images once more, for other images. Returns the new value of
/// each value of the network.
std::vector<Value> add_again(Graph& graph, const NetworkDefinition& network, const View& view) {
  std::vector<Value> map(network.graph.value_count());
  for (std::size_t id = 0; id < map.size(); ++id) map[id] = Value{static_cast<int>(id)};
  const auto mapped = [&](Value v) -> Value& { return map[static_cast<std::size_t>(v.id)]; };
  mapped(network.inputs.front().value) = view.images;
  for (const Node& node : network.graph.nodes()) {
    const bool changes =
        std::ranges::any_of(node.inputs, [&](Value v) -> bool { return mapped(v) != v; });
    if (!changes) continue;
    std::vector<Value> inputs;
    for (const Value v : node.inputs) inputs.push_back(mapped(v));
    const std::vector<Value> outputs = graph.add(node.op, std::move(inputs), view.name + node.name);
    for (std::size_t i = 0; i < outputs.size(); ++i) mapped(node.outputs[i]) = outputs[i];
  }
  return map;
}

}  // namespace

NetworkDefinition with_views(const NetworkDefinition& given, const TestViews& how) {
  const NetworkDefinition network = without_views(given);
  check_views(network, how);
  NetworkDefinition made = network;
  Graph& graph = made.graph;
  const std::vector<View> views = add_views(graph, network.inputs.front().value, how);
  std::vector<std::vector<Value>> maps;
  for (std::size_t v = 1; v < views.size(); ++v) {
    maps.push_back(add_again(graph, network, views[v]));
  }
  for (NetworkOutput& output : made.outputs) {
    const Value whole = output.value;
    if (maps.front()[static_cast<std::size_t>(whole.id)] == whole) continue;  // not of the images
    const Node* last = last_activation(network.graph, whole);
    const Value averaged = last != nullptr ? last->inputs.front() : whole;
    Value sum = graph.emit(ScaleOp({.alpha = views[0].share}), {averaged}, kName);
    for (std::size_t v = 1; v < views.size(); ++v) {
      const Value other = maps[v - 1][static_cast<std::size_t>(averaged.id)];
      const Value scaled = graph.emit(ScaleOp({.alpha = views[v].share}), {other}, kName);
      // ONNX and C files have no AddOp.
      sum = graph.emit(ArithmeticOp({.kind = Arithmetic::add}), {sum, scaled}, kName);
    }
    output.members.clear();  // each sees one view
    output.value = last != nullptr ? graph.add_one(last->op, {sum}, kName) : sum;
  }
  return pruned(made, std::vector<bool>(made.outputs.size(), true));
}

NetworkDefinition without_views(const NetworkDefinition& network) {
  if (!views_of(network)) return network;
  NetworkDefinition made = network;
  for (NetworkOutput& output : made.outputs) {
    const Averaged found = averaged_in(network.graph, output.value);
    if (!found.one) continue;
    output.value = found.last != nullptr ? made.graph.add_one(found.last, {found.one},
                                                              std::string(found.last->name()))
                                         : found.one;
  }
  return pruned(made, std::vector<bool>(made.outputs.size(), true));
}

std::optional<TestViews> views_of(const NetworkDefinition& network) {
  const Graph& graph = network.graph;
  const bool averages = std::ranges::any_of(network.outputs, [&](const NetworkOutput& output) {
    return static_cast<bool>(averaged_in(graph, output.value).one);
  });
  if (!averages) return std::nullopt;
  TestViews found{.flip = false};
  for (const Node& node : graph.nodes()) {
    const auto* turned = own_op<StridedSliceOp>(&node);
    if (turned == nullptr) continue;
    const StridedSliceAttrs& attrs = turned->attrs();
    if (attrs.axis == kHeight) found.shift = attrs.count;
    if (attrs.axis == kWidth && attrs.count == network.inputs.front().sample[1]) found.flip = true;
  }
  return found;
}

TestViews parse_views(const std::string& text, std::string_view where) {
  constexpr std::string_view kShift = "shift=";
  TestViews views{.flip = false};
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view entry = std::string_view(text).substr(begin, end - begin);
    if (entry.starts_with(kShift)) views.shift = shift_of(entry.substr(kShift.size()));
    if (entry == "flip") views.flip = true;
    require(entry == "flip" || (entry.starts_with(kShift) && views.shift > 0),
            "{}: expected flip, shift=PIXELS or both, such as flip,shift=1; got '{}'", where, text);
    begin = end + 1;
  }
  return views;
}

std::string to_string(const TestViews& views) {
  const std::string flip = views.flip ? "flip" : "";
  if (views.shift == 0) return flip;
  return fmt::format("{}{}shift={}", flip, views.flip ? "," : "", views.shift);
}

}  // namespace linnet
