// SPDX-License-Identifier: Apache-2.0
#include "c_export/operator_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "ops/quantize/quantize.h"

namespace linnet {
namespace {

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Returns rows of weights, each rounded.
std::vector<float> rounded_rows(std::vector<float> weights, std::int64_t rows) {
  const std::size_t width =
      weights.size() / static_cast<std::size_t>(std::max<std::int64_t>(rows, 1));
  for (std::size_t at = 0; width > 0 && at < weights.size(); at += width) {
    round_row({weights.data() + at, width}, weights.data() + at);
  }
  return weights;
}

std::string with_point(std::string text) {
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

std::string decimal(float value) { return with_point(fmt::format("{}", value)); }
std::string decimal(double value) { return with_point(fmt::format("{}", value)); }

std::string listed_in_lines(const std::vector<std::string>& items, std::size_t width) {
  std::string text;
  std::size_t used = 0;
  for (const std::string& item : items) {
    if (used + item.size() + 1 > width && used > 0) {
      text += '\n';
      used = 0;
    }
    text += item + ",";
    used += item.size() + 1;
  }
  return text;
}

std::string identifier(const std::string& name) {
  std::string text;
  for (const char c : name) text += is_letter(c) ? c : '_';
  if (text.empty() || is_digit(text[0])) text = "_" + text;
  return text;
}

std::string harmless(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '*' && c != '?';
    out += plain ? c : '_';
  }
  return out;
}

bool is_identifier(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || c == '_'; }) &&
         !is_digit(text[0]);
}

OperatorFile::OperatorFile(const InferenceGraph& graph, std::vector<Tensor> values)
    : g_(&graph), values_(std::move(values)) {}

std::string OperatorFile::at(Value value) {
  const Value root = g_->roots[static_cast<std::size_t>(value.id)];
  const auto input = std::ranges::find(g_->inputs, root.id, &Value::id);
  if (input != g_->inputs.end()) return input_at("in_" + identifier(graph().info(root).name));
  const bool are_ids = graph().type(root).dtype == DType::i32;
  if (!is_computed(root)) {  // a weight that is a plain operand is a table
    if (of_tangents_) return nothing();
    return are_ids ? ids(parameter(root)) : floats(parameter(root));
  }
  const std::size_t offset = g_->offsets[static_cast<std::size_t>(root.id)];
  if (graph().type(root).dtype == DType::u8) return levels_at(offset);
  return are_ids ? ids_at(offset) : memory_at(offset);
}

std::string OperatorFile::no_levels() const {
  fail("[{} '{}'] cannot be written as {}: it computes in 8 bits", node().op->name(), node().name,
       language());
}

std::string OperatorFile::integers(const std::vector<int>& /*values*/) { return no_levels(); }
std::string OperatorFile::spare_levels(std::int64_t /*elements*/) { return no_levels(); }
std::string OperatorFile::levels_at(std::size_t /*offset*/) const { return no_levels(); }

bool is_rounded_weight(const Node& node) {
  return dynamic_cast<const QuantizeWeightsOp*>(node.op.get()) != nullptr;
}

bool OperatorFile::is_computed(Value value) const {
  const Node* node = graph().producer(g_->roots[static_cast<std::size_t>(value.id)]);
  return node != nullptr && !(is_rounded_weight(*node) && !is_computed(node->inputs[kFirst]));
}

std::string OperatorFile::at_if_read(Value value) {
  const bool is_output = std::ranges::find(g_->outputs, value.id, &Value::id) != g_->outputs.end();
  return is_output || graph().uses(value) > 0 ? at(value) : nothing();
}

std::string OperatorFile::scratch() const { return memory_at(g_->scratch[node_]); }

std::vector<float> OperatorFile::parameter(Value value) const {
  value = g_->roots[static_cast<std::size_t>(value.id)];  // a view has the same elements
  if (const Node* rounds = graph().producer(value); rounds != nullptr && !is_computed(value)) {
    return rounded_rows(parameter(rounds->inputs[kFirst]), graph().shape(value)[0]);
  }
  const ValueInfo& info = graph().info(value);
  const auto count = static_cast<std::size_t>(info.type.shape.elements());
  if (info.storage == Storage::constant) {
    if (info.elements.empty()) return std::vector<float>(count, static_cast<float>(info.fill));
    return {info.elements.begin(), info.elements.end()};
  }
  const auto found = std::ranges::find(g_->parameters, value.id, &Value::id);
  require(found != g_->parameters.end(),
          "[{} '{}'] cannot be written as {}: its weight '{}' is computed, expected a parameter",
          node().op->name(), node().name, language(), info.name);
  const auto elements =
      values_[static_cast<std::size_t>(found - g_->parameters.begin())].as<float>();
  return {elements.begin(), elements.end()};
}

std::string OperatorFile::tangent_at(Value value) {
  of_tangents_ = true;
  std::string place = at(value);
  of_tangents_ = false;
  return place;
}

bool OperatorFile::has_tangent(Value value) const {
  const Value root = g_->roots[static_cast<std::size_t>(value.id)];
  return graph().producer(root) != nullptr ||
         (graph().type(root).dtype == DType::f32 &&
          std::ranges::find(g_->inputs, root.id, &Value::id) != g_->inputs.end());
}

void OperatorFile::write_tangents(const Node& node) {
  of_tangents_ = true;
  write_operator(*this, node);
  of_tangents_ = false;
}

Value OperatorFile::differentiated() const {
  const auto of_numbers = [&](Value input) { return graph().type(input).dtype == DType::f32; };
  const auto count = std::ranges::count_if(g_->inputs, of_numbers);
  require(count == 1, "derivatives in {} need a network with one input of numbers; got {}",
          language(), count == 0 ? "ids alone" : fmt::format("{} of them", count));
  return *std::ranges::find_if(g_->inputs, of_numbers);
}

void OperatorFile::write_nodes() {
  const auto& nodes = graph().nodes();
  for (node_ = 0; node_ < nodes.size(); ++node_) {
    const bool is_weight = is_rounded_weight(node()) && !is_computed(node().outputs[0]);
    if (node().op->is_view() || is_weight || graph().shape(node().outputs[0]).elements() == 0) {
      continue;
    }
    comment(fmt::format("{}: {}", harmless(node().name),
                        to_string(graph().shape(node().outputs[0]).sample())));
    if (derives_)
      write_with_tangents(*this, node());
    else
      write_operator(*this, node());
  }
}

}  // namespace linnet
