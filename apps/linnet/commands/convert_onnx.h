// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace linnet::command {

/// Options of `linnet convert` for an ONNX file.
struct OnnxConvertOptions {
  std::vector<std::string> shapes;     ///< "input=1,3,224,224"
  std::vector<std::string> constants;  ///< "sr=16000"
  std::vector<std::string> until;
  bool one_sample = false;
};

void add_onnx_options(CLI::App& command, OnnxConvertOptions& options);

/// Makes a model file of an ONNX file; returns the exit status. `classes` names a file with a class
/// a line, or is empty.
int convert_onnx(const std::string& in, const std::string& out, const std::string& classes,
                 const OnnxConvertOptions& options, bool json);

/// Gives the model the classes of the file, if there is one, and writes it.
void save_converted(Model& model, const std::string& classes, const std::string& out);

}  // namespace linnet::command
