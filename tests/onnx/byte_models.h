// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <linnet/onnx.h>
#include <linnet/predictor.h>
#include <linnet/tensor.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "message_of.h"
#include "onnx/onnx_bytes.h"
#include "temporary_folder.h"

namespace linnet::testing {

// Models of files that no exporter wrote, as OnnxBytes says them.

inline void expect_near(const Tensor& got, const Tensor& wanted, float within) {
  ASSERT_EQ(got.shape(), wanted.shape());
  for (std::size_t i = 0; i < got.as<float>().size(); ++i) {
    ASSERT_NEAR(got.as<float>()[i], wanted.as<float>()[i], within) << i;
  }
}

/// The sentence that the import of these bytes ends with.
inline std::string refusal(const OnnxBytes& model, const OnnxImportOptions& options = {}) {
  const TemporaryFolder folder;
  write_quickly(folder / "m.onnx", model.bytes());
  return message_of(
      [&] { import_onnx(folder / "m.onnx", options, {.device = "cpu", .threads = 1}); });
}

/// Ids as an ONNX tensor.
inline std::string integers(const std::string& name, const std::vector<std::int64_t>& values,
                            const std::vector<std::int64_t>& dims) {
  return OnnxBytes::tensor(name, dims, 7,
                           {reinterpret_cast<const char*>(values.data()),
                            values.size() * sizeof(std::int64_t)});
}

inline OnnxImport import_of(const OnnxBytes& bytes, const OnnxImportOptions& options = {}) {
  const TemporaryFolder folder;
  write_quickly(folder / "m.onnx", bytes.bytes());
  return import_onnx(folder / "m.onnx", options, {.device = "cpu", .threads = 1});
}
inline Model imported(const OnnxBytes& bytes) { return import_of(bytes).model; }

/// Returns what a model computes of samples 0, 1, 2, ... of the input "x".
inline Tensor computed(const OnnxBytes& bytes, std::int64_t samples) {
  Model model = imported(bytes);
  const Shape shape = Predictor(model).input_shape().batched(samples);
  std::vector<float> x(static_cast<std::size_t>(shape.elements()));
  std::iota(x.begin(), x.end(), 0.0F);
  return model.predict(Tensor(std::move(x), shape).to(bytes.type == 7 ? DType::i32 : DType::f32));
}

inline Tensor floats(std::vector<float> values, const Shape& shape) {
  return {std::move(values), shape};
}

/// Nodes that give the batch's size as "n", of one number.
inline std::vector<std::string> with_batch_size(std::vector<std::string> more) {
  more.insert(more.begin(), {OnnxBytes::node("Shape", {"x"}, {"shape"}, "shape"),
                             OnnxBytes::node("Gather", {"shape", "zero"}, {"n"}, "n")});
  return more;
}

}  // namespace linnet::testing
