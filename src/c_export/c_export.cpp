// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/c_export.h>
#include <linnet/quantize.h>

#include <system_error>

#include "base/check.h"
#include "base/files.h"
#include "c_export/c_file.h"
#include "model/derivative_network.h"
#include "model/model_state.h"

namespace linnet {
namespace {

struct CTexts {
  std::string source;
  std::string header;
};

/// Writes the second derivatives of each output by the input of numbers.
void write_hessians(CFile& file, const NetworkDefinition& network) {
  const std::string by = file.graph().info(file.differentiated()).name;
  for (std::size_t i = 0; i < network.outputs.size(); ++i) {
    NetworkDefinition made =
        derivative_network(network, by, network.outputs[i].name, Derivatives::jacobian_and_hessian);
    made.outputs.erase(made.outputs.begin(), made.outputs.end() - 1);
    file.write_hessian(inference_graph(made, "C"), i);
  }
}

CTexts c_texts(const Model& model, const CExportOptions& options) {
  const std::string& name = options.name;
  require(is_identifier(name), "expected a name that is a C identifier, e.g. digits; got '{}'",
          name);
  const bool quantized = quantized_layers(model) > 0;
  require(!quantized || !(options.jacobian || options.hessian),
          "the model is quantized; derivatives are those of the one it was made of");
  require(!options.hessian || options.weights == CWeights::f32,
          "second derivatives are written with 32-bit weights; got 8-bit ones");
  refuse_f64(model, "C code");
  const NetworkDefinition& network = model.state().definition();
  const InferenceGraph graph = inference_graph(network, "C", quantized);
  std::vector<Tensor> values;
  for (const ParameterSpec& spec : network.parameters) values.push_back(model.parameter(spec.name));
  CFile file(graph, std::move(values), options);
  file.write_program();
  if (options.jacobian) file.write_jacobian();
  if (options.hessian) write_hessians(file, network);
  return {file.text(model), file.header(model)};
}

}  // namespace

std::string c_source(const Model& model, const CExportOptions& options) {
  return c_texts(model, options).source;
}

std::string c_header(const Model& model, const CExportOptions& options) {
  return c_texts(model, options).header;
}

void export_c(const Model& model, const std::filesystem::path& folder,
              const CExportOptions& options) {
  const CTexts texts = c_texts(model, options);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  require(error != std::errc::file_exists,  // a link to nothing
          "cannot make the folder '{}': something else has this name", folder.string());
  require(!error, "cannot make the folder '{}': {}", folder.string(), error.message());
  write_file_atomically(folder / (options.name + ".c"), texts.source);
  write_file_atomically(folder / (options.name + ".h"), texts.header);
}

}  // namespace linnet
