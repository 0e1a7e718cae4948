// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/model.h>
#include <linnet/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Says how an ONNX file is read.
struct OnnxImportOptions {
  /// Dims of inputs by name, as ONNX orders them and with the batch (any number), e.g. (1, 3, 224,
  /// 224). Needed where the file leaves dims other than the batch open.
  std::map<std::string, Shape> shapes = {};
  /// Whether the first axis of every input is the batch; states, (layers, batch, units), have it
  /// where they alone leave a dim open. If false, the whole input is one sample, and a batch axis
  /// is added before its axes.
  bool batch_axis = true;
  /// Inputs that are the same number in every call, by name, e.g. {"sr", 16000}: they are constants
  /// of the network, of one element unless `shapes` or the file says another shape.
  std::map<std::string, double> constants = {};
  /// Values, by name, that become the outputs instead of the file's own. What they do not need is
  /// left out: a detector is read up to the NonMaxSuppression that no network computes.
  std::vector<std::string> until = {};
};

/// Says how an input or an output of an ONNX file appears in the imported network.
struct OnnxPort {
  std::string name;  ///< name in both
  Shape sample;      ///< shape of a sample in the network
  /// The ONNX axis of each axis of a sample: {2, 3, 1} for images, which ONNX orders (N, C, H, W)
  /// and Linnet (N, H, W, C). {-1} where a sample is a single number, without an axis in ONNX.
  std::vector<int> axes;
  int batch = 0;          ///< the ONNX axis of the batch; -1: none
  std::string type = {};  ///< element type in the file, as ONNX calls it: "FLOAT", "INT64", ...
  /// Shape in the file, in ONNX's order; -1: a batch that the file leaves open.
  std::vector<std::int64_t> dims = {};
  std::int64_t below = 0;  ///< ids are from 0 to below - 1; 0: numbers, or ids without a limit
};

/// Holds an imported model.
struct OnnxImport {
  Model model;  ///< the network with the file's weights, and the class names of a classifier
  std::vector<OnnxPort> inputs;  ///< inputs, in the network's order
  /// Outputs, in the network's order: labels of a classifier after its scores. Labels that are
  /// strings are numbers from 0 on.
  std::vector<OnnxPort> outputs;
  std::string producer = {};  ///< program that wrote the file, and its version: "pytorch 2.9.0"
  std::map<std::string, std::string> metadata = {};  ///< the file's metadata by key, as UTF-8
  /// Keys of export_onnx()'s metadata that do not fit the network: the model is without them.
  std::vector<std::string> left_out = {};
};

/// Reads an ONNX file (opset 6 to 28 of the default domain, pipelines of ai.onnx.ml) as a network
/// that can be trained: its float initializers become weights with their names, images become (N,
/// H, W, C), constants are computed. Data in other files is read only from the file's folder and
/// below. Metadata that export_onnx() writes become the model's again. `options` says where the
/// model computes. Throws DataError naming the node for an operator, an attribute or a shape that
/// is not supported, and the file where it is damaged.
OnnxImport import_onnx(const std::filesystem::path& path, const OnnxImportOptions& import = {},
                       ModelOptions options = {});

/// Says how export_onnx() writes.
struct OnnxExportOptions {
  /// Version of ONNX's operators, 13 to 21: that of the oldest program that reads the file. IR is 7
  /// up to opset 14, 8 up to 18, 9 up to 20, and 10.
  std::int64_t opset = 17;
};

/// Writes the model's inference as an ONNX file for any batch: images are (N, C, H, W), ids int32;
/// inputs and outputs of an imported model have the order, the element types and the order of axes
/// that they had in its file. Class names, transforms of rows, errors of intervals and the training
/// record without its samples become metadata. The file appears whole or not at all. Waits. Throws
/// Error for another opset, naming the layer that ONNX has no operators for, before anything is
/// written, and where the file would be larger than 2 GiB or cannot be written.
void export_onnx(const Model& model, const std::filesystem::path& path,
                 const OnnxExportOptions& options = {});

/// Names an operator that import_onnx() reads.
struct OnnxOperator {
  std::string name;   ///< ONNX's name
  std::string limit;  ///< the part that is not supported; empty: none
};

/// Returns the operators that import_onnx() reads, by name.
std::vector<OnnxOperator> onnx_operators();

}  // namespace linnet
LINNET_API_END
