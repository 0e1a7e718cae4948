// SPDX-License-Identifier: Apache-2.0
#include "onnx/graph_writer.h"

#include <linnet/version.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/files.h"
#include "formats/protobuf.h"

namespace linnet::onnx {

using namespace protobuf;  // whose functions stand on every line

namespace {

constexpr std::size_t kMostBytes = (std::size_t{1} << 31) - 1;

/// Returns the IR version of the release of ONNX that an opset came with.
constexpr std::int64_t ir_of(std::int64_t opset) {
  if (opset < 15) return 7;
  if (opset < 19) return 8;
  return opset < 21 ? 9 : 10;
}

std::string value_info(const std::string& name, Type type, const Dims& dims) {
  std::string shape;
  for (const std::int64_t dim : dims) {
    std::string message;
    if (dim == kBatch) {
      put_bytes(message, 2, "N");
    } else {
      put_integer(message, 1, dim);
    }
    put_bytes(shape, 1, message);
  }
  std::string tensor;
  put_integer(tensor, 1, static_cast<std::int64_t>(type));
  put_bytes(tensor, 2, shape);
  std::string kind;
  put_bytes(kind, 1, tensor);
  std::string info;
  put_bytes(info, 1, name);
  put_bytes(info, 2, kind);
  return info;
}

std::string attribute(const std::string& name, const AttributeValue& value) {
  std::string message;
  put_bytes(message, 1, name);
  AttributeKind kind = AttributeKind::undefined;
  if (const auto* i = std::get_if<std::int64_t>(&value)) {
    put_integer(message, 3, *i);
    kind = AttributeKind::i;
  } else if (const auto* f = std::get_if<double>(&value)) {
    put_float(message, 2, static_cast<float>(*f));
    kind = AttributeKind::f;
  } else if (const auto* s = std::get_if<std::string>(&value)) {
    put_bytes(message, 4, *s);
    kind = AttributeKind::s;
  } else if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
    for (const std::string& each : *texts) put_bytes(message, 9, each);
    kind = AttributeKind::strings;
  } else {
    for (const std::int64_t each : std::get<std::vector<std::int64_t>>(value)) {
      put_integer(message, 8, each);
    }
    kind = AttributeKind::ints;
  }
  put_integer(message, 20, static_cast<std::int64_t>(kind));
  return message;
}

template <class T>
std::string_view bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

GraphWriter::GraphWriter(std::int64_t opset) : opset_(opset) {
  require(opset >= kOldestWritten && opset <= kNewestWritten,
          "expected an opset of {} to {}; got {}", kOldestWritten, kNewestWritten, opset);
}

std::string GraphWriter::unique(const std::string& wanted) {
  std::string name = wanted;
  for (int i = 2; !names_.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
  return name;
}

void GraphWriter::add_input(const std::string& name, Type type, const Dims& dims) {
  put_bytes(inputs_, 11, value_info(name, type, dims));
}

void GraphWriter::add_output(const std::string& name, Type type, const Dims& dims) {
  put_bytes(outputs_, 12, value_info(name, type, dims));
}

std::string GraphWriter::node(std::string_view op, const std::vector<std::string>& inputs,
                              const std::string& layer, AttributeList attributes) {
  return node(op, inputs, layer, std::move(attributes), {true}).front();
}

std::vector<std::string> GraphWriter::node(std::string_view op,
                                           const std::vector<std::string>& inputs,
                                           const std::string& layer, AttributeList attributes,
                                           const std::vector<bool>& outputs) {
  Node node{std::string(op), "", inputs, {}, std::move(attributes)};
  for (const bool named : outputs) node.outputs.push_back(named ? unique(layer) : "");
  node.name =
      fmt::format("{}/{}", node.outputs[0].empty() ? node.outputs.back() : node.outputs[0], op);
  nodes_.push_back(std::move(node));
  return nodes_.back().outputs;
}

std::string GraphWriter::raw(const std::string& wanted, Type type, const Dims& dims,
                             std::string_view data) {
  const std::string name = unique(wanted);
  std::string head;
  for (const std::int64_t dim : dims) put_integer(head, 1, dim);
  put_integer(head, 2, static_cast<std::int64_t>(type));
  put_bytes(head, 8, name);
  put_bytes_header(head, 9, data.size());
  put_bytes_header(initializers_, 5, head.size() + data.size());
  initializers_.append(head).append(data);
  require(initializers_.size() <= kMostBytes, "the weights exceed the 2 GiB of an ONNX file");
  return name;
}

std::string GraphWriter::floats(const std::string& wanted, const Dims& dims,
                                std::span<const float> values) {
  return raw(wanted, Type::f32, dims,
             {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

std::string GraphWriter::integers(const std::string& wanted, const Dims& dims,
                                  const std::vector<std::int64_t>& values) {
  return raw(wanted, Type::i64, dims, bytes(values));
}

std::string GraphWriter::booleans(const std::string& wanted, const Dims& dims,
                                  const std::vector<std::uint8_t>& values) {
  return raw(wanted, Type::boolean, dims, bytes(values));
}

std::string GraphWriter::int32s(const std::string& wanted, const Dims& dims,
                                const std::vector<std::int32_t>& values) {
  return raw(wanted, Type::i32, dims, bytes(values));
}

std::string GraphWriter::int8s(const std::string& wanted, const Dims& dims,
                               const std::vector<std::int8_t>& values) {
  return raw(wanted, Type::i8, dims, bytes(values));
}

std::string GraphWriter::uint8(const std::string& wanted, std::uint8_t value) {
  return raw(wanted, Type::u8, {}, {reinterpret_cast<const char*>(&value), 1});
}

std::string GraphWriter::number(const std::string& wanted, double value) {
  const std::array<float, 1> one = {static_cast<float>(value)};
  return floats(wanted, {}, one);
}

void GraphWriter::name_output(const std::string& value, const std::string& output) {
  const auto writes = [&](const Node& node) {
    return std::ranges::find(node.outputs, value) != node.outputs.end();
  };
  if (!std::ranges::any_of(nodes_, writes) || renamed_.contains(value)) {
    nodes_.push_back({"Identity", output + "/Identity", {value}, {output}, {}});
    return;
  }
  for (Node& node : nodes_) {
    std::ranges::replace(node.inputs, value, output);
    std::ranges::replace(node.outputs, value, output);
  }
  renamed_.insert(output);
}

void GraphWriter::add_metadata(const std::string& key, const std::string& value) {
  std::string entry;
  put_bytes(entry, 1, key);
  put_bytes(entry, 2, value);
  put_bytes(metadata_, 14, entry);
}

void GraphWriter::write(const std::filesystem::path& path, const std::string& graph_name) const {
  std::string nodes;
  for (const Node& node : nodes_) {
    std::string message;
    for (const std::string& input : node.inputs) put_bytes(message, 1, input);
    for (const std::string& output : node.outputs) put_bytes(message, 2, output);
    put_bytes(message, 3, node.name);
    put_bytes(message, 4, node.op);
    for (const auto& [name, value] : node.attributes) put_bytes(message, 5, attribute(name, value));
    put_bytes(nodes, 1, message);
  }
  put_bytes(nodes, 2, graph_name);
  const std::size_t graph = nodes.size() + initializers_.size() + inputs_.size() + outputs_.size();
  std::string head;
  put_integer(head, 1, ir_of(opset_));
  put_bytes(head, 2, "linnet");
  put_bytes(head, 3, version());
  put_bytes_header(head, 7, graph);
  std::string opset;
  put_bytes(opset, 1, "");
  put_integer(opset, 2, opset_);
  std::string tail;
  put_bytes(tail, 8, opset);
  tail += metadata_;
  require(head.size() + graph + tail.size() <= kMostBytes,
          "cannot write '{}': it would have {} bytes; an ONNX file has at most 2 GiB",
          path.string(), head.size() + graph + tail.size());
  const std::array<std::string_view, 6> pieces = {head,    nodes,    initializers_,
                                                  inputs_, outputs_, tail};
  write_file_atomically(path, pieces);
}

}  // namespace linnet::onnx
