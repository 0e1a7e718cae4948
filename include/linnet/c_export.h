// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/model.h>

#include <cstdint>
#include <filesystem>
#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Says how a C program holds weights.
enum class CWeights : std::uint8_t {
  f32,   ///< unchanged: results differ from Linnet's only by the order of sums
  int8,  ///< matrices as 8-bit integers with a scale for each output channel: a quarter of the size
};

/// Says how export_c() writes.
struct CExportOptions {
  /// Name of the files, and first part of every name that they declare: a C identifier.
  std::string name = "model";
  CWeights weights = CWeights::f32;  ///< how weights are held
  /// Adds `void model_jacobian(const float *input, float *output)`: the derivatives of each output
  /// element by each input element, (outputs, inputs). It computes the network and its derivatives
  /// once for each input element. Needs exactly one input of numbers, and dense layers,
  /// convolutions, averages, batch, layer and group norm, activations, softmax and elementwise
  /// arithmetic. Other inputs hold ids, by which nothing is differentiated.
  bool jacobian = false;
  /// Adds `void model_hessian(const float *input, float *output)`: the second derivatives of each
  /// output element by each pair of input elements, (outputs, inputs, inputs), as Model::hessian()
  /// defines them. The file grows by the code of one backward pass for each of outputs x inputs.
  /// Needs one input of numbers, 32-bit weights, and layers that Model::hessian() takes: dense
  /// layers, convolutions, averages, activations, softmax, sums and elementwise arithmetic.
  bool hessian = false;
};

/// Returns a model's inference for one sample as a C99 file that needs only the standard library:
/// `void model_predict(const float *input, float *output)`, with a pointer for each input and
/// output in the network's order; ids are `const int32_t *`. Weights are constants, and all memory
/// is static: one thread at a time may call it. Waits. Throws Error for a name that is not a C
/// identifier, and naming the layer for an operator without C code, such as one that reads lengths
/// of sequences, or without derivatives in C where these are asked for. Products that quantize()
/// has rounded are computed in 8 bits and summed in 32, as on the CPU; derivatives of such a model
/// are refused.
std::string c_source(const Model& model, const CExportOptions& options = {});
/// Returns the header that declares what c_source() defines. Throws as c_source() does.
std::string c_header(const Model& model, const CExportOptions& options = {});

/// Writes c_source() and c_header() as `<name>.c` and `<name>.h` to a folder, which it makes if
/// needed. Each file appears whole or not at all. Throws as c_source() does, and Error where a file
/// cannot be written.
void export_c(const Model& model, const std::filesystem::path& folder,
              const CExportOptions& options = {});

}  // namespace linnet
LINNET_API_END
