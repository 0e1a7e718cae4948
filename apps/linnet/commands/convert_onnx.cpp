// SPDX-License-Identifier: Apache-2.0
#include "commands/convert_onnx.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linnet/onnx.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/folder.h"
#include "commands/commands.h"
#include "core/dims.h"
#include "describe/nearest.h"
#include "report/json.h"

namespace linnet::command {
namespace {

/// Returns where the name of "NAME=VALUE" ends; 0: there is none.
std::size_t end_of_name(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  return equals == std::string::npos ? 0 : equals;
}

/// "input=1,3,224,224"
std::pair<std::string, Shape> named_shape(const std::string& text) {
  const std::size_t equals = end_of_name(text);
  std::vector<std::int64_t> dims;
  bool good = equals > 0;
  std::size_t at = equals + 1;
  while (good && at <= text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::int64_t dim = 0;
    const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, dim);
    good = error == std::errc() && stop == text.data() + end && dim > 0;
    dims.push_back(dim);
    at = end + 1;
  }
  require(good && !dims.empty(),
          "--shape: expected an input's name and its dims, such as input=1,3,224,224; got '{}'",
          text);
  return {text.substr(0, equals), Shape(dims)};
}

/// "sr=16000"
std::pair<std::string, double> named_number(const std::string& text) {
  const std::size_t equals = end_of_name(text);
  const char* end = text.data() + text.size();
  double number = 0;
  const auto [stop, error] =
      std::from_chars(equals > 0 ? text.data() + equals + 1 : end, end, number);
  require(error == std::errc() && stop == end && std::isfinite(number),
          "--constant: expected an input's name and its number, such as sr=16000; got '{}'", text);
  return {text.substr(0, equals), number};
}

Json ports_json(const std::vector<OnnxPort>& ports) {
  Json json = Json::array();
  for (const OnnxPort& port : ports) {
    json.push_back({{"name", port.name},
                    {"sample", dims_of(port.sample)},
                    {"axes", port.axes},
                    {"batch", port.batch},
                    {"type", port.type},
                    {"shape", port.dims},
                    {"below", port.below > 0 ? Json(port.below) : Json(nullptr)}});
  }
  return json;
}

std::string ports_text(const std::vector<OnnxPort>& ports) {
  std::vector<std::string> each;
  for (const OnnxPort& port : ports) {
    std::vector<std::string> dims;
    for (const std::int64_t dim : port.dims) dims.push_back(dim < 0 ? "N" : fmt::to_string(dim));
    each.push_back(fmt::format("'{}' {} of {} ({})", port.name, to_string(port.sample), port.type,
                               fmt::join(dims, ", ")));
    if (port.below > 0) each.back() += fmt::format(", ids from 0 to {}", port.below - 1);
  }
  return fmt::format("{}", fmt::join(each, "; "));
}

}  // namespace

void add_onnx_options(CLI::App& command, OnnxConvertOptions& options) {
  command.add_option("--shape", options.shapes,
                     "Dims of an ONNX file's input that the file leaves open, in ONNX's order and "
                     "with the batch: input=1,3,224,224");
  command.add_option("--constant", options.constants,
                     "An input of an ONNX file that is the same number in every call: sr=16000");
  command
      .add_option("--until", options.until,
                  "Read the ONNX file up to this value, which becomes an output instead of the "
                  "file's own; repeatable")
      ->allow_extra_args(false);
  command.add_flag("--one-sample", options.one_sample,
                   "The inputs of the ONNX file have no batch axis");
}

void save_converted(Model& model, const std::string& classes, const std::string& out) {
  if (!classes.empty()) model.set_class_names(read_class_names(classes));
  model.save(out);
}

int convert_onnx(const std::string& in, const std::string& out, const std::string& classes,
                 const OnnxConvertOptions& options, bool json) {
  require(out.ends_with(".safetensors"),
          "cannot write the model '{}': a model file is .safetensors", out);
  OnnxImportOptions import;
  for (const std::string& text : options.shapes) import.shapes.insert(named_shape(text));
  for (const std::string& text : options.constants) import.constants.insert(named_number(text));
  import.until = options.until;
  import.batch_axis = !options.one_sample;
  OnnxImport imported = import_onnx(in, import, {.device = "cpu", .threads = 1});
  save_converted(imported.model, classes, out);
  const std::int64_t parameters = imported.model.network().parameters();
  if (json) {
    print_json({{"inputs", ports_json(imported.inputs)},
                {"outputs", ports_json(imported.outputs)},
                {"parameters", parameters},
                {"producer", imported.producer},
                {"metadata", imported.metadata},
                {"left_out", imported.left_out}});
    return kSuccess;
  }
  print_note("converted '{}' to '{}': {} parameters, samples {}, outputs {}", in, out, parameters,
             ports_text(imported.inputs), ports_text(imported.outputs));
  if (!imported.producer.empty()) print_note("written by {}", imported.producer);
  if (!imported.left_out.empty()) {
    print_note("metadata that do not fit the network are left out: {}", some_of(imported.left_out));
  }
  return kSuccess;
}

}  // namespace linnet::command
