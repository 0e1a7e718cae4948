// SPDX-License-Identifier: Apache-2.0
// Runs ONNX files through the importer, for tests/interop/onnx_interop.py. Each line of standard
// input is a folder with model.onnx, input_<i>.npy for each input in the file's order, and perhaps
// a file no_batch: then no axis of the inputs is the batch. Files constants and shapes have lines
// of an input's name and a number, or dims. Writes output_<i>.npy, in ONNX's order of axes, and a
// line "ok" or "refused: ...".
#include <linnet/dataset.h>
#include <linnet/onnx.h>
#include <linnet/tensor.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "nn/definition.h"
#include "onnx/ports.h"

namespace {

using namespace linnet;
using testing::from_network;
using testing::to_network;

void run(const std::filesystem::path& folder) {
  OnnxImportOptions options;
  options.batch_axis = !std::filesystem::exists(folder / "no_batch");
  std::ifstream constants(folder / "constants");
  double number = 0;
  for (std::string name; constants >> name >> number;) options.constants[name] = number;
  std::ifstream shapes(folder / "shapes");
  for (std::string line; std::getline(shapes, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    options.shapes[name] =
        Shape(std::vector<std::int64_t>(std::istream_iterator<std::int64_t>(words),
                                        std::istream_iterator<std::int64_t>()));
  }
  const OnnxImport import =
      import_onnx(folder / "model.onnx", options, {.device = "cpu", .threads = 1});
  std::vector<Column> inputs;
  for (std::size_t i = 0; i < import.inputs.size(); ++i) {
    const Tensor array = read_npy(folder / ("input_" + std::to_string(i) + ".npy"));
    const bool ids = import.model.network().definition().inputs[i].dtype == DType::i32;
    inputs.push_back({import.inputs[i].name, to_network(array, import.inputs[i], options.batch_axis,
                                                        ids ? DType::i32 : DType::f32)});
  }
  Model model = import.model;
  const std::vector<Column> outputs = model.predict_all(Dataset(inputs, {}), 16);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    write_npy(folder / ("output_" + std::to_string(i) + ".npy"),
              from_network(outputs[i].data, import.outputs[i]));
  }
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    try {
      run(line);
      std::cout << "ok" << std::endl;
    } catch (const std::exception& error) {
      std::string sentence = error.what();
      std::replace(sentence.begin(), sentence.end(), '\n', ' ');
      std::cout << "refused: " << sentence << std::endl;
    }
  }
}
