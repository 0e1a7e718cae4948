// SPDX-License-Identifier: Apache-2.0
#include <linnet/onnx.h>

#include <algorithm>

#include "base/check.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "model/model_file.h"
#include "model/model_state.h"
#include "onnx/cut.h"
#include "onnx/decompose.h"
#include "onnx/importer.h"
#include "onnx/kept_ports.h"
#include "onnx/rules.h"

namespace linnet {
namespace {

std::string utf8_of(std::string_view text) {
  return is_utf8(text) ? std::string(text) : escaped(text);
}

/// Reads the file's metadata, and gives the model what export_onnx() wrote of it.
void read_metadata(const onnx::ModelProto& file, OnnxImport& to) {
  to.producer = escaped(file.producer);
  if (!file.producer_version.empty()) to.producer += " " + escaped(file.producer_version);
  for (const auto& [key, text] : file.metadata) to.metadata[utf8_of(key)] = utf8_of(text);
  for (const auto& [key, text] : to.metadata) {
    if (key == kOnnxKey || key == kErrorsKey) continue;  // of model files alone
    if (key == onnx::kOutputsKey && onnx::names_from(text).empty()) to.left_out.push_back(key);
    try {
      set_fact(to.model, key == onnx::kIntervalsKey ? kErrorsKey : key, text);
    } catch (const OutOfMemory&) {
      throw;
    } catch (const Error&) {
      to.left_out.push_back(key);
    }
  }
}

}  // namespace

OnnxImport import_onnx(const std::filesystem::path& path, const OnnxImportOptions& import,
                       ModelOptions options) {
  onnx::ModelProto file = onnx::read_model(path);
  try {
    return in_memory("it", [&] {
      if (!import.until.empty()) onnx::cut(file, import.until);
      onnx::decompose(file);
      onnx::Importer importer(file, import);
      importer.run();
      Model model(importer.take_network(), std::move(options));
      model.set_weights(importer.weights());
      model.set_class_names(importer.class_names());
      model.state().onnx_ports = onnx::to_json(importer.inputs(), importer.outputs_in_file());
      OnnxImport made{std::move(model), importer.inputs(), importer.outputs()};
      read_metadata(file, made);
      return made;
    });
  } catch (const Error& error) {
    fail_again<DataError>(error, "cannot import '{}': {}", path.string(),
                          escaped(error.what()));  // names are the file's
  }
}

std::vector<OnnxOperator> onnx_operators() {
  std::vector<OnnxOperator> all;
  for (const auto& [name, op] : onnx::rules().imports) all.push_back({name, op.limit});
  for (auto& [name, limit] : onnx::decomposed_operators()) all.push_back({name, limit});
  std::ranges::sort(all, {}, &OnnxOperator::name);
  return all;
}

}  // namespace linnet
