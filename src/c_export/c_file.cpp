// SPDX-License-Identifier: Apache-2.0
#include "c_export/c_file.h"

#include <fmt/format.h>
#include <linnet/table_transform.h>
#include <linnet/version.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "c_export/c_functions.h"
#include "ops/quantize/quantize.h"

namespace linnet {
namespace {

/// Returns the shortest text that reads back to the same float.
std::string literal(float value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "-INFINITY";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

template <class T, class F>
std::string listed(const std::vector<T>& values, F text_of) {
  std::string text;
  std::size_t width = 0;
  for (const T& value : values) {
    const std::string item = text_of(value) + ",";
    if (width + item.size() > 110) {
      text += '\n';
      width = 0;
    }
    text += item;
    width += item.size();
  }
  return text;
}

/// Returns a name of the network as one of C: "gru_1.last" as "gru_1_last".
std::string identifier(const std::string& name) {
  std::string text;
  for (const char c : name) {
    text += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0) text = "_" + text;
  return text;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

/// Returns text for a comment or a string of C: other than harmless printable ASCII becomes '_'.
std::string harmless(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '*' && c != '?';
    out += plain ? c : '_';
  }
  return out;
}

}  // namespace

CFile::CFile(const InferenceGraph& graph, std::vector<Tensor> values, const CExportOptions& options)
    : g_(graph), values_(std::move(values)), options_(options) {}

std::string CFile::at(Value value) {
  const Value root = g_.roots[static_cast<std::size_t>(value.id)];
  const auto input = std::ranges::find(g_.inputs, root.id, &Value::id);
  if (input != g_.inputs.end()) return "in_" + identifier(graph().info(root).name);
  if (graph().producer(root) == nullptr) {
    // A weight that an operator reads as a plain operand.
    return floats(parameter(root));
  }
  const std::size_t offset = g_.offsets[static_cast<std::size_t>(root.id)];
  return offset == 0 ? "memory" : fmt::format("memory + {}", offset);
}

std::string CFile::at_if_read(Value value) {
  const bool is_output = std::ranges::find(g_.outputs, value.id, &Value::id) != g_.outputs.end();
  return is_output || graph().uses(value) > 0 ? at(value) : "NULL";
}

std::string CFile::scratch() const { return fmt::format("memory + {}", g_.scratch[node_]); }

std::vector<float> CFile::parameter(Value value) const {
  const ValueInfo& info = graph().info(value);
  const auto count = static_cast<std::size_t>(info.type.shape.elements());
  if (info.storage == Storage::constant) {
    if (info.elements.empty()) return std::vector<float>(count, static_cast<float>(info.fill));
    return {info.elements.begin(), info.elements.end()};
  }
  const auto found = std::ranges::find(g_.parameters, value.id, &Value::id);
  const Node& node = graph().nodes()[node_];
  require(found != g_.parameters.end(),
          "[{} '{}'] cannot be written as C: its weight '{}' is computed, expected a parameter",
          node.op->name(), node.name, info.name);
  const auto elements =
      values_[static_cast<std::size_t>(found - g_.parameters.begin())].as<float>();
  return {elements.begin(), elements.end()};
}

std::string CFile::table(const char* type, const std::string& contents, std::size_t count) {
  const std::string definition = fmt::format("[{}] = {{\n{}}};\n", count, contents);
  const auto [found, is_new] =
      names_.emplace(type + definition, fmt::format("table_{}", names_.size()));
  if (is_new) tables_ += fmt::format("static const {} {}{}", type, found->second, definition);
  return found->second;
}

std::string CFile::floats(const std::vector<float>& values) {
  return table("float", listed(values, literal), values.size());
}

std::string CFile::matrix(const std::vector<float>& values, std::int64_t columns, bool scale_rows,
                          std::int64_t groups) {
  if (options_.weights == CWeights::f32) return floats(values);
  const auto width = static_cast<std::size_t>(columns);
  const std::size_t rows = values.size() / std::max<std::size_t>(width, 1);
  const std::size_t of_group = rows / static_cast<std::size_t>(groups);
  const auto place = [&](std::size_t i) {
    return scale_rows ? i / width : i / width / of_group * width + i % width;
  };
  std::vector<float> scales(scale_rows ? rows : width * static_cast<std::size_t>(groups));
  for (std::size_t i = 0; i < values.size(); ++i) {
    scales[place(i)] = std::max(scales[place(i)], std::abs(values[i]));
  }
  for (float& scale : scales) scale = step_for(scale);
  std::vector<int> integers;
  for (std::size_t i = 0; i < values.size(); ++i) {
    integers.push_back(steps_of(values[i], scales[place(i)]));
  }
  const std::string name =
      table("int8_t", listed(integers, [](int value) { return std::to_string(value); }),
            integers.size());
  return name + ", " + floats(scales);
}

void CFile::call(std::string_view function, const std::string& arguments) {
  need(function);
  line(fmt::format("{}({});", function, arguments));
}

void CFile::loop(std::int64_t count, const std::string& statement) {
  line(fmt::format("for (int i = 0; i < {}; ++i) {}", count, statement));
}

void CFile::line(const std::string& text) { program_ += "  " + text + "\n"; }

void CFile::write_program() {
  const auto& nodes = graph().nodes();
  for (node_ = 0; node_ < nodes.size(); ++node_) {
    const Node& node = nodes[node_];
    if (node.op->is_view()) continue;
    line(fmt::format("/* {}: {} */", harmless(node.name),
                     to_string(graph().shape(node.outputs[0]).sample())));
    write_operator(*this, node);
  }
  for (std::size_t i = 0; i < g_.outputs.size(); ++i) {
    line(fmt::format("memcpy(out_{}, {}, sizeof(float) * {});", i, at(g_.outputs[i]),
                     graph().shape(g_.outputs[i]).elements()));
  }
}

std::string CFile::signature() const {
  std::string text = fmt::format("void {}_predict(", options_.name);
  for (const Value input : g_.inputs) {
    text += fmt::format("const {} *in_{}, ",
                        graph().type(input).dtype == DType::i32 ? "int32_t" : "float",
                        identifier(graph().info(input).name));
  }
  for (std::size_t i = 0; i < g_.outputs.size(); ++i) {
    text += fmt::format("{}float *out_{}", i == 0 ? "" : ", ", i);
  }
  return text + ")";
}

std::string CFile::defines(const Model& model) const {
  const std::string prefix = upper(options_.name);
  std::string text;
  for (const Value input : g_.inputs) {
    text += fmt::format("#define {}_IN_{} {} /* {} */\n", prefix,
                        upper(identifier(graph().info(input).name)),
                        graph().shape(input).elements(), to_string(graph().shape(input).sample()));
  }
  const auto names = model.network().output_names();
  for (std::size_t i = 0; i < g_.outputs.size(); ++i) {
    text += fmt::format("#define {}_OUT_{} {} /* {}: {} */\n", prefix, i,
                        graph().shape(g_.outputs[i]).elements(), harmless(names[i]),
                        to_string(graph().shape(g_.outputs[i]).sample()));
  }
  if (!model.table().empty()) {
    text += "/* Not raw rows: each number as the table's transform makes it, in this order:\n";
    int number = 0;
    for (const std::string& feature : model.table().feature_names()) {
      text += fmt::format("   [{}] {}\n", number++, harmless(feature));
    }
    text += "*/\n";
  }
  const auto& classes = model.class_names();
  if (!classes.empty()) text += fmt::format("#define {}_CLASSES {}\n", prefix, classes.size());
  return text;
}

std::string CFile::header(const Model& model) const {
  const std::string guard = upper(options_.name) + "_H";
  std::string text = fmt::format(
      "/* Generated by Linnet {}: declares what {}.c defines. */\n"
      "#ifndef {}\n"
      "#define {}\n"
      "#include <stdint.h>\n"
      "\n{}\n"
      "/* Predicts one sample. The sizes above are in elements. Call it from one thread at a time. "
      "*/\n"
      "{};\n",
      version(), options_.name, guard, guard, defines(model), signature());
  if (!model.class_names().empty()) {
    text += fmt::format("extern const char *const {}_class_names[];\n", options_.name);
  }
  return text + "\n#endif\n";
}

std::string CFile::text(const Model& model) const {
  std::string text = fmt::format(
      "/* Generated by Linnet {}: predicts one sample by a network, in C99, with {} weights.\n"
      "   It needs only the standard library (link with -lm). */\n"
      "#include <math.h>\n"
      "#include <stdint.h>\n"
      "#include <string.h>\n"
      "\n{}\n",
      version(), options_.weights == CWeights::f32 ? "32-bit" : "8-bit", defines(model));
  text += signature() + ";\n";
  if (!model.class_names().empty()) {
    text += fmt::format(
        "extern const char *const {}_class_names[];\n"
        "const char *const {}_class_names[] = {{",
        options_.name, options_.name);
    for (const std::string& name : model.class_names()) {
      text += fmt::format("\"{}\", ", harmless(name));
    }
    text += "};\n";
  }
  text += "\n" + tables_ + "\n";
  text += fmt::format("static float memory[{}];\n\n", std::max<std::size_t>(g_.floats, 1));
  text += c_functions(functions_, options_.weights);
  return text + signature() + " {\n" + program_ + "}\n";
}

}  // namespace linnet
