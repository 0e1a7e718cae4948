// SPDX-License-Identifier: Apache-2.0
#include <linnet/onnx.h>

#include <algorithm>

#include "base/check.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "onnx/decompose.h"
#include "onnx/importer.h"
#include "onnx/rules.h"

namespace linnet {

OnnxImport import_onnx(const std::filesystem::path& path, const OnnxImportOptions& import,
                       ModelOptions options) {
  onnx::ModelProto file = onnx::read_model(path);
  try {
    return in_memory("it", [&] {
      onnx::decompose(file);
      onnx::Importer importer(file, import);
      importer.run();
      Model model(importer.take_network(), std::move(options));
      model.set_weights(importer.weights());
      model.set_class_names(importer.class_names());
      return OnnxImport{std::move(model), importer.inputs(), importer.outputs()};
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
