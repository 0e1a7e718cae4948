// SPDX-License-Identifier: Apache-2.0
// Runs ONNX files through the importer, for tests/interop/onnx_interop.py. Each line of standard
// input is a folder with model.onnx, input_<i>.npy for each input in the file's order, and perhaps
// a file no_batch: then no axis of the inputs is the batch. Writes output_<i>.npy, in ONNX's order
// of axes, and a line "ok" or "refused: ...".
#include <linnet/dataset.h>
#include <linnet/onnx.h>
#include <linnet/tensor.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string>

#include "core/dims.h"
#include "nn/definition.h"
#include "onnx/constant.h"

namespace {

using namespace linnet;

/// The sample axes of a batch as the network has them.
Tensor to_network(const Tensor& array, const OnnxPort& port, bool batch_axis, DType dtype) {
  onnx::Dims dims = dims_of(array.shape());
  if (!batch_axis) dims.insert(dims.begin(), 1);
  std::vector<int> order = {0};
  for (const int axis : port.axes) {
    if (axis >= 0) order.push_back(axis + (batch_axis ? 0 : 1));
  }
  const Shape shape = port.sample.batched(dims[0]);
  const auto moved = [&]<class T>(T /*element*/) {
    const Tensor converted = array.to(dtype);
    const auto span = converted.as<T>();
    return Tensor(onnx::permuted(std::vector<T>(span.begin(), span.end()), dims, order), shape);
  };
  return dtype == DType::i32 ? moved(std::int32_t{}) : moved(float{});
}

/// The network's output with its axes where ONNX has them.
Tensor from_network(const Tensor& y, const OnnxPort& port) {
  std::vector<std::pair<int, int>> axes;  // of ONNX, and of y
  if (port.batch >= 0) axes.emplace_back(port.batch, 0);
  for (std::size_t i = 0; i < port.axes.size(); ++i) {
    if (port.axes[i] >= 0) axes.emplace_back(port.axes[i], static_cast<int>(i) + 1);
  }
  std::sort(axes.begin(), axes.end());
  onnx::Dims dims = dims_of(y.shape());
  if (port.axes == std::vector<int>{-1}) dims.pop_back();
  std::vector<int> order;
  for (const auto& [onnx_axis, axis] : axes) order.push_back(axis - (port.batch < 0 ? 1 : 0));
  if (port.batch < 0) dims.erase(dims.begin());
  onnx::Dims to;
  for (const int axis : order) to.push_back(dims[static_cast<std::size_t>(axis)]);
  const auto span = y.as<float>();
  return Tensor(onnx::permuted(std::vector<float>(span.begin(), span.end()), dims, order),
                Shape(to));
}

void run(const std::filesystem::path& folder) {
  OnnxImportOptions options;
  options.batch_axis = !std::filesystem::exists(folder / "no_batch");
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
