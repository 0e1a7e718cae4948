// SPDX-License-Identifier: Apache-2.0
#include "c_export/function_file.h"

#include <fmt/format.h>
#include <linnet/version.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "c_export/function_library.h"
#include "ops/compare/compare.h"
#include "ops/select/select.h"

namespace linnet {
namespace {

/// Returns an index of C, whose "i / 4" are whole, as one of any language.
std::string whole_index(const std::string& index) {
  constexpr std::string_view kDivision = "i / ";
  std::string out;
  std::size_t from = 0;
  for (std::size_t at; (at = index.find(kDivision, from)) != std::string::npos;) {
    std::size_t end = at + kDivision.size();
    while (end < index.size() && is_digit(index[end])) ++end;
    out += index.substr(from, at - from) + "div(i, " +
           index.substr(at + kDivision.size(), end - at - kDivision.size()) + ")";
    from = end;
  }
  return out + index.substr(from);
}

/// A class of Java sets its constants in one method of 64 KiB: 8 bytes for an element, and at most
/// 16 for a constant.
constexpr std::size_t kMostElementsOfJava = 7500;

}  // namespace

FunctionFile::FunctionFile(const InferenceGraph& graph, std::vector<Tensor> values,
                           const Language& language)
    : OperatorFile(graph, std::move(values)), language_(language) {}

std::string FunctionFile::constant(std::string_view form, const std::string& contents,
                                   std::size_t elements) {
  const auto [found, is_new] =
      names_.emplace(std::string(form) + contents, fmt::format("T{}", names_.size()));
  if (is_new) {
    constants_ += filled(form, {found->second, contents});
    elements_ += elements + 2;
  }
  return found->second;
}

std::string FunctionFile::numbers(const std::vector<std::string>& values) {
  // Java holds numbers as texts, of at most 64 KiB each: as an array they would be code.
  const bool java = language_.is("Java");
  std::string lines = listed_in_lines(values, java ? 2000 : 110);
  const auto count = static_cast<std::size_t>(std::ranges::count(lines, '\n')) + 1;
  if (java) {
    std::string apart;
    for (const char c : lines) apart += c == '\n' ? std::string("\",\n\"") : std::string(1, c);
    lines = fmt::format("\"{}\"", apart);
  } else {
    lines += '\n';
  }
  return constant(language_["numbers"], lines, count);
}

std::string FunctionFile::texts(const std::vector<std::string>& values, std::string name) {
  std::string contents;
  for (const std::string& value : values) {
    contents += (contents.empty() ? "" : ", ") + quoted(language_, value);
  }
  if (name.empty()) return constant(language_["texts"], contents, values.size());
  if (names_.emplace(name, name).second) {
    constants_ += filled(language_["texts"], {name, contents});
    elements_ += values.size() + 2;
  }
  return name;
}

std::string FunctionFile::floats(const std::vector<float>& values) {
  std::vector<std::string> all;
  all.reserve(values.size());
  for (const float value : values) {
    require(std::isfinite(value),
            "[{} '{}'] cannot be written as {}: expected finite weights; got {}", node().op->name(),
            node().name, language(), value);
    all.push_back(decimal(value));
  }
  return numbers(all) + ", 0";
}

std::string FunctionFile::matrix(const std::vector<float>& values, std::int64_t /*columns*/,
                                 bool /*scale_rows*/, std::int64_t /*groups*/) {
  return floats(values);
}

void FunctionFile::refuse() const {
  fail(
      "[{} '{}'] cannot be written as {}, which takes dense layers, activations, "
      "layer, group and batch norm, embeddings, softmax, reductions, concatenation, slices and "
      "elementwise arithmetic; C (--c) and ONNX (--onnx) take more",
      node().op->name(), node().name, language());
}

void FunctionFile::call(std::string_view function, const std::string& arguments) {
  if (!is_library_function(function)) refuse();
  line(fmt::format("{}({})", function, arguments));
}

std::string FunctionFile::element(const std::string& place, const std::string& index) {
  const std::size_t comma = place.find(", ");
  const std::string begin = place.substr(comma + 2);
  return fmt::format("{}[{}{}]", place.substr(0, comma), begin == "0" ? "" : begin + " + ", index);
}

void FunctionFile::each(std::int64_t count, const std::vector<FormulaOperand>& operands, Value to,
                        const std::string& formula) {
  loop(count, operands, at(to), formula);
}

void FunctionFile::each_tangent(std::int64_t count, const std::vector<FormulaOperand>& operands,
                                Value to, const std::string& formula) {
  loop(count, operands, tangent_at(to), formula);
}

void FunctionFile::loop(std::int64_t count, const std::vector<FormulaOperand>& operands,
                        const std::string& to, const std::string& formula) {
  const std::string_view op = node().op->name();
  // Numbers are doubles here, whose comparisons would differ.
  if (op == CompareOp::kName || op == SelectOp::kName) refuse();
  if (formula.find("INFINITY") != std::string::npos || formula.find("NAN") != std::string::npos) {
    refuse();
  }
  line(fmt::format("for i to {}", count));
  for (const FormulaOperand& operand : operands) {
    line(fmt::format("num {} = {}", operand.name,
                     element(operand.is_tangent ? tangent_at(operand.value) : at(operand.value),
                             whole_index(operand.index))));
  }
  line(fmt::format("{} = {}\nend", element(to, "i"), formula));
}

void FunctionFile::copy(const std::string& from, const std::string& to, std::int64_t count) {
  line(fmt::format("copy_part({}, {}, 1, {}, 0, {})", from, to, count, count));
}

std::string FunctionFile::memory_at(std::size_t offset) const {
  return fmt::format("{}, {}", of_tangents() ? "dm" : "m", offset);
}

std::string FunctionFile::ids_at(std::size_t /*offset*/) const { refuse(); }

std::string inputs_of(const InferenceGraph& graph, std::string_view type) {
  std::string inputs;
  for (const Value input : graph.inputs) {
    inputs += fmt::format("{}{}in_{}", inputs.empty() ? "" : ", ", type,
                          identifier(graph.graph.info(input).name));
  }
  return inputs;
}

void FunctionFile::write_output(const std::string& form) {
  const Value output = g().outputs[0];
  const std::int64_t count = graph().shape(output).elements();
  const std::int64_t width = graph().shape(output)[-1];
  line(fmt::format("list y = zeros({})", count));
  copy(at(output), "y, 0", count);
  if (form == "softmax") {
    line(fmt::format("softmax(y, 0, y, 0, {}, {})", count / width, width));
  } else if (form == "sigmoid") {
    line(fmt::format("sigmoid(y, {})", count));
  }
  if (!derives()) return;
  line(fmt::format("list dy = zeros({})", count));
  copy(tangent_at(output), "dy, 0", count);
  if (form == "softmax") {
    line(fmt::format("softmax_tangent(y, 0, dy, 0, dy, 0, {}, {})", count / width, width));
  } else if (form == "sigmoid") {
    line(fmt::format("sigmoid_tangent(y, dy, {})", count));
  }
}

void FunctionFile::write_network(const std::string& form) {
  line(fmt::format("def list network({})", inputs_of(g(), "list ")));
  line(fmt::format("list m = zeros({})", std::max<std::size_t>(g().floats, 1)));
  write_nodes();
  write_output(form);
  line("return y\nend");
}

void FunctionFile::write_network_jacobian(const std::string& form) {
  const std::int64_t count = graph().shape(g().outputs[0]).elements();
  const std::int64_t inputs = directions();
  require(has_tangent(g().outputs[0]), "the output is constant: it has no derivatives");
  comment("dm holds the derivatives of m by the input's element k.");
  line(fmt::format("def list network_jacobian({})", inputs_of(g(), "list ")));
  line(fmt::format("list m = zeros({0})\nlist dm = zeros({0})",
                   std::max<std::size_t>(g().floats, 1)));
  line(fmt::format("list direction = zeros({})\nlist slopes = zeros({})", inputs, count * inputs));
  line(fmt::format("for k to {}\ndirection[k] = 1.0", inputs));
  set_derives(true);
  write_nodes();
  write_output(form);
  set_derives(false);
  line(fmt::format("for i to {}\nslopes[i * {} + k] = dy[i]\nend", count, inputs));
  line("direction[k] = 0.0\nend\nreturn slopes\nend");
}

std::string FunctionFile::text(const std::string& name,
                               const std::vector<std::string>& head) const {
  require(!language_.is("Java") || elements_ <= kMostElementsOfJava,
          "expected at most {} categories and lines of weights, which a class of Java holds; got "
          "{}; the other languages take more",
          kMostElementsOfJava, elements_);
  std::string text;
  for (const std::string& sentence : head) {
    text += fmt::format("{} {}\n", language_["comment"], sentence);
  }
  if (language_.is("PHP")) text.insert(0, "<?php\n");
  text += filled(language_["head"], {name}) + constants_;
  SourcePrinter printer(language_, language_.depth());
  for (const std::string_view function : with_callees(program_)) {
    printer.add(library_function(function));
  }
  std::string_view rest = program_;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view one = rest.substr(0, end);
    if (one.starts_with("# ")) {
      printer.comment(std::string(one.substr(2)));
    } else {
      printer.add(one);
    }
    rest.remove_prefix(end + 1);
  }
  text += std::string(language_.prelude) + printer.text();
  while (text.ends_with("\n\n")) text.pop_back();
  return text + filled(language_["tail"], {exported_});
}

}  // namespace linnet
