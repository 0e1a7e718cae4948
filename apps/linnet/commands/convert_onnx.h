// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace linnet::command {

/// What `linnet convert` is told of an ONNX file.
struct OnnxConvertOptions {
  std::vector<std::string> shapes;  ///< "input=1,3,224,224"
  bool one_sample = false;
};

void add_onnx_options(CLI::App& command, OnnxConvertOptions& options);

/// Makes a model file of an ONNX file; returns the exit status.
int convert_onnx(const std::string& in, const std::string& out, const OnnxConvertOptions& options,
                 bool json);

}  // namespace linnet::command
