// SPDX-License-Identifier: Apache-2.0
#include "c_export/c_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linnet/table_transform.h>
#include <linnet/version.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "c_export/c_functions.h"
#include "c_export/writers.h"
#include "ops/quantize/quantize.h"

namespace linnet {
namespace {

template <class T, class F>
std::string listed(const std::vector<T>& values, F text_of) {
  std::vector<std::string> items;
  items.reserve(values.size());
  for (const T& value : values) items.push_back(text_of(value));
  return listed_in_lines(items);
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

CFile::CFile(const InferenceGraph& graph, std::vector<Tensor> values, const CExportOptions& options)
    : OperatorFile(graph, std::move(values)),
      options_(options),
      floats_(std::max<std::size_t>(graph.floats, 1)),
      ids_(graph.ids) {}

std::string CFile::memory_at(std::size_t offset) const {
  const char* array = of_tangents() ? "tangents" : "memory";
  return offset == 0 ? array : fmt::format("{} + {}", array, offset);
}

std::string CFile::ids_at(std::size_t offset) const { return fmt::format("ids + {}", offset); }
std::string CFile::levels_at(std::size_t offset) const {
  return fmt::format("levels + {}", offset);
}
std::string CFile::spare_levels(std::int64_t elements) {
  spare_ = std::max(spare_, elements);
  return "spare";
}

std::string CFile::table(const char* type, const std::string& contents, std::size_t count) {
  const std::string definition = fmt::format("[{}] = {{\n{}}};\n", count, contents);
  const auto [found, is_new] =
      names_.emplace(type + definition, fmt::format("table_{}", names_.size()));
  if (is_new) tables_ += fmt::format("static const {} {}{}", type, found->second, definition);
  return found->second;
}

std::string CFile::floats(const std::vector<float>& values) {
  return table("float", listed(values, c_number), values.size());
}

std::string CFile::ids(const std::vector<float>& values) {
  return table("int32_t",
               listed(values, [](float id) { return std::to_string(static_cast<int>(id)); }),
               values.size());
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
  const std::string name = this->integers(integers);
  return name + ", " + floats(scales);
}

std::string CFile::integers(const std::vector<int>& values) {
  return table("int8_t", listed(values, [](int value) { return std::to_string(value); }),
               values.size());
}

void CFile::call(std::string_view function, const std::string& arguments) {
  functions_.emplace_back(function);
  line(fmt::format("{}({});", function, arguments));
}

std::string CFile::element(const FormulaOperand& operand) {
  const bool is_id = graph().type(operand.value).dtype == DType::i32;
  return fmt::format("const {} {} = ({})[{}]; ", is_id ? "int32_t" : "float", operand.name,
                     operand.is_tangent ? tangent_at(operand.value) : at(operand.value),
                     operand.index);
}

void CFile::loop(std::int64_t count, const std::vector<FormulaOperand>& operands,
                 const std::string& to, const std::string& formula) {
  std::string read;
  for (const FormulaOperand& operand : operands) read += element(operand);
  line(fmt::format("for (int i = 0; i < {}; ++i) {{ {}({})[i] = {}; }}", count, read, to, formula));
}

void CFile::each(std::int64_t count, const std::vector<FormulaOperand>& operands, Value to,
                 const std::string& formula) {
  loop(count, operands, at(to), formula);
}

void CFile::each_tangent(std::int64_t count, const std::vector<FormulaOperand>& operands, Value to,
                         const std::string& formula) {
  loop(count, operands, tangent_at(to), formula);
}

void CFile::write_jacobian() {
  const std::int64_t inputs = graph().shape(differentiated()).elements();
  program_.swap(jacobian_);
  set_derives(true);
  write_nodes();
  for (std::size_t i = 0; i < g().outputs.size(); ++i) {
    const Value output = g().outputs[i];
    require(has_tangent(output), "output {} is constant: it has no derivatives", i);
    line(fmt::format("for (int i = 0; i < {}; ++i) out_{}[i * {} + k] = ({})[i];",
                     graph().shape(output).elements(), i, inputs, tangent_at(output)));
  }
  set_derives(false);
  program_.swap(jacobian_);
}

void CFile::write_hessian(const InferenceGraph& graph, std::size_t output) {
  const InferenceGraph& predicted = g();
  program_.swap(hessian_);
  use(graph);
  write_nodes();
  const Value value = graph.outputs.front();
  copy(at(value), fmt::format("out_{}", output), graph.graph.shape(value).elements());
  use(predicted);
  program_.swap(hessian_);
  floats_ = std::max(floats_, graph.floats);
  ids_ = std::max(ids_, graph.ids);
}

void CFile::copy(const std::string& from, const std::string& to, std::int64_t count) {
  if (from == to) return;  // the result took over its operand's memory
  line(fmt::format("memcpy({}, {}, sizeof(float) * {});", to, from, count));
}

void CFile::write_program() {
  write_nodes();
  for (std::size_t i = 0; i < g().outputs.size(); ++i) {
    const Value output = g().outputs[i];
    copy(at(output), fmt::format("out_{}", i), graph().shape(output).elements());
  }
}

std::string CFile::jacobian_text() const {
  return fmt::format(
      "static float tangents[{0}], direction[{1}];\n\n"
      "/* Tangents are the derivatives by the input's element k. */\n"
      "{2} {{\n"
      "  for (int k = 0; k < {1}; ++k) {{\n"
      "    direction[k] = 1.0f;\n"
      "{3}"
      "    direction[k] = 0.0f;\n"
      "  }}\n"
      "}}\n",
      std::max<std::size_t>(g().floats, 1), graph().shape(differentiated()).elements(),
      signature("jacobian"), jacobian_);
}

std::string CFile::signature(std::string_view function) const {
  std::string text = fmt::format("void {}_{}(", options_.name, function);
  for (const Value input : g().inputs) {
    text += fmt::format("const {} *in_{}, ",
                        graph().type(input).dtype == DType::i32 ? "int32_t" : "float",
                        identifier(graph().info(input).name));
  }
  for (std::size_t i = 0; i < g().outputs.size(); ++i) {
    text += fmt::format("{}float *out_{}", i == 0 ? "" : ", ", i);
  }
  return text + ")";
}

std::string CFile::defines(const Model& model) const {
  const std::string prefix = upper(options_.name);
  std::string text;
  for (const Value input : g().inputs) {
    text += fmt::format("#define {}_IN_{} {} /* {} */\n", prefix,
                        upper(identifier(graph().info(input).name)),
                        graph().shape(input).elements(), to_string(graph().shape(input).sample()));
  }
  const auto names = model.network().output_names();
  for (std::size_t i = 0; i < g().outputs.size(); ++i) {
    text += fmt::format("#define {}_OUT_{} {} /* {}: {} */\n", prefix, i,
                        graph().shape(g().outputs[i]).elements(), harmless(names[i]),
                        to_string(graph().shape(g().outputs[i]).sample()));
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
      version(), options_.name, guard, guard, defines(model), signature("predict"));
  const auto declare = [&](const char* function, const char* writes) {
    text += fmt::format("/* Writes {}. */\n{};\n", writes, signature(function));
  };
  if (options_.jacobian) {
    declare("jacobian",
            "the derivatives of each output element by each input element, row by row: (outputs, "
            "inputs)");
  }
  if (options_.hessian) {
    declare("hessian",
            "the second derivatives of each output element by each pair of input elements: "
            "(outputs, inputs, inputs)");
  }
  if (!model.class_names().empty()) {
    text += fmt::format("extern const char *const {}_class_names[];\n", options_.name);
  }
  return text + "\n#endif\n";
}

std::string CFile::text(const Model& model) const {
  std::string text = fmt::format(
      "/* Generated by Linnet {}: predicts one sample by a network, in C99, with {}.\n"
      "   It needs only the standard library (link with -lm). */\n"
      "#include <math.h>\n"
      "#include <stdint.h>\n"
      "#include <string.h>\n"
      "\n{}\n",
      version(),
      g().levels > 0                      ? "products of 8-bit integers"
      : options_.weights == CWeights::f32 ? "32-bit weights"
                                          : "8-bit weights",
      defines(model));
  text += signature("predict") + ";\n";
  if (options_.jacobian) text += signature("jacobian") + ";\n";
  if (options_.hessian) text += signature("hessian") + ";\n";
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
  text += fmt::format("static float memory[{}];\n", floats_);
  if (ids_ > 0) text += fmt::format("static int32_t ids[{}];\n", ids_);
  // The last pair may end one after the last level.
  if (g().levels > 0) text += fmt::format("static int16_t levels[{}];\n", g().levels + 1);
  if (spare_ > 0) text += fmt::format("static int16_t spare[{}];\n", spare_ + 1);
  text += '\n';
  text += c_functions(functions_, options_.weights);
  text += signature("predict") + " {\n" + program_ + "}\n";
  if (options_.jacobian) text += "\n" + jacobian_text();
  if (options_.hessian) text += "\n" + signature("hessian") + " {\n" + hessian_ + "}\n";
  return text;
}

}  // namespace linnet
