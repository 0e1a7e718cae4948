// SPDX-License-Identifier: Apache-2.0
// Networks of Keras by tf2onnx (tests/fixtures/make_keras_fixtures.py).
#include <gtest/gtest.h>
#include <linnet/dataset.h>
#include <linnet/onnx.h>
#include <linnet/tensor.h>

#include <filesystem>

#include "nn/definition.h"
#include "onnx/byte_models.h"
#include "onnx/ports.h"
#include "temporary_folder.h"

namespace linnet {
namespace {

const std::filesystem::path kKeras = LINNET_KERAS_FIXTURES;

/// Returns a fixture's samples as the network takes them.
Tensor samples_of(const std::string& name, const OnnxImport& import) {
  const DType dtype = import.model.network().definition().inputs[0].dtype;
  return testing::to_network(read_npy(kKeras / (name + "_x.npy")), import.inputs[0], true, dtype);
}

class OfKeras : public ::testing::TestWithParam<const char*> {};

TEST_P(OfKeras, gives_what_keras_gave_and_is_exported) {
  const std::string name = GetParam();
  const ModelOptions one_thread{.device = "cpu", .threads = 1};
  const OnnxImport import = import_onnx(kKeras / (name + ".onnx"), {}, one_thread);
  const Tensor x = samples_of(name, import);
  Model model = import.model;
  const Tensor y = model.predict(Dataset({{"x", x}}, {}));
  testing::expect_near(testing::from_network(y, import.outputs[0]),
                       read_npy(kKeras / (name + "_y.npy")), 1e-5F);
  const testing::TemporaryFolder folder;
  export_onnx(import.model, folder / "m.onnx");
  OnnxImport again = import_onnx(folder / "m.onnx", {}, one_thread);
  const Dataset samples({{"x", samples_of(name, again)}}, {});
  testing::expect_near(again.model.predict(samples), y, 1e-5F);
}

INSTANTIATE_TEST_SUITE_P(Onnx, OfKeras,
                         ::testing::Values("dense_norm", "cnn", "depthwise", "conv1d", "lstm",
                                           "gru", "bidirectional", "embedding", "attention",
                                           "separable", "transposed", "upsampling", "layer_norm",
                                           "residual", "softmax_over_steps", "pooling"),
                         [](const auto& info) { return std::string(info.param); });

// GRUs come as loops, whose steps share their weights.
TEST(KerasLoops, have_their_weights_once) {
  const OnnxImport import = import_onnx(kKeras / "gru.onnx", {}, {.device = "cpu", .threads = 1});
  std::int64_t elements = 0;
  for (const std::string& name : import.model.parameter_names()) {
    elements += import.model.parameter_shape(name).elements();
  }
  const std::int64_t with_two_biases = (4 + 6) * 18 + 2 * 18;
  const std::int64_t original = (6 + 5) * 15 + 15;
  const std::int64_t all = with_two_biases + original + 5 * 3 + 3;
  EXPECT_EQ(elements, all + 2 * (5 + 6));  // and zeros: the state and the row that each begins with
}

}  // namespace
}  // namespace linnet
