// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/onnx.h>

#include <string>
#include <vector>

#include "onnx/schema.h"

namespace linnet::onnx {

/// An input of a model as the ONNX file had it from which the model was made.
struct KeptInput {
  std::string name;
  Type type = Type::undefined;
  std::vector<int> axes;  ///< OnnxPort::axes as if there were a batch axis first; {}: a number
};

/// The key of held-out errors in an ONNX file: kErrorsKey of a model file.
inline constexpr const char* kIntervalsKey = "linnet.intervals";

/// Returns what a model keeps of the inputs of its file.
std::string to_json(const std::vector<OnnxPort>& inputs);
/// Returns it again; nothing of an empty text. Throws DataError for any other text.
std::vector<KeptInput> kept_inputs(const std::string& json);

}  // namespace linnet::onnx
