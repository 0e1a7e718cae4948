// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/onnx.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/schema.h"

namespace linnet::onnx {

/// An input or an output as the ONNX file had it from which a model was made.
struct KeptPort {
  std::string name;
  Type type = Type::undefined;
  /// The file's axis of the batch, then that of each axis of a sample; of single numbers, that of
  /// the batch alone.
  std::vector<std::int64_t> axes;
};

/// All of them, in the file's order.
struct KeptPorts {
  std::vector<KeptPort> inputs;
  std::vector<KeptPort> outputs;
};

/// The key of held-out errors in an ONNX file: kErrorsKey of a model file.
inline constexpr const char* kIntervalsKey = "linnet.intervals";
/// The key of the names of outputs in the network's order, in an ONNX file that has another one.
inline constexpr const char* kOutputsKey = "linnet.outputs";

/// Returns what a model keeps of its file.
std::string to_json(const std::vector<OnnxPort>& inputs, const std::vector<OnnxPort>& outputs);
/// Returns it again; nothing of an empty text. Throws DataError for any other text.
KeptPorts kept_ports(const std::string& json);
/// Returns the names of outputs that kOutputsKey has; nothing of a damaged text.
std::vector<std::string> names_from(std::string_view json);

}  // namespace linnet::onnx
