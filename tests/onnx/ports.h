// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/onnx.h>
#include <linnet/tensor.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/dims.h"
#include "onnx/constant.h"

namespace linnet::testing {

/// The sample axes of a batch as the network has them.
inline Tensor to_network(const Tensor& array, const OnnxPort& port, bool batch_axis, DType dtype) {
  onnx::Dims dims = dims_of(array.shape());
  if (!batch_axis) dims.insert(dims.begin(), 1);
  const int batch = batch_axis ? port.batch : 0;
  std::vector<int> order = {batch};
  for (const int axis : port.axes) {
    if (axis >= 0) order.push_back(axis + (batch_axis ? 0 : 1));
  }
  const Shape shape = port.sample.batched(dims[static_cast<std::size_t>(batch)]);
  const auto moved = [&]<class T>(T /*element*/) {
    const Tensor converted = array.to(dtype);
    const auto span = converted.as<T>();
    return Tensor(onnx::permuted(std::vector<T>(span.begin(), span.end()), dims, order), shape);
  };
  return dtype == DType::i32 ? moved(std::int32_t{}) : moved(float{});
}

/// The network's output with its axes where ONNX has them.
inline Tensor from_network(const Tensor& y, const OnnxPort& port) {
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

}  // namespace linnet::testing
