// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/dataset.h>
#include <linnet/onnx.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "temporary_folder.h"

namespace linnet {
namespace {

/// The folder of the shared models.
std::filesystem::path models() {
  const char* const named = std::getenv("LINNET_DATA");
  const std::filesystem::path beside =
      std::filesystem::path(__FILE__).parent_path() / "../../../shared/data";
  return (named != nullptr ? std::filesystem::path(named) : beside) / "models";
}

/// (N, C, H, W) as (N, H, W, C).
Tensor channels_last(const Tensor& images) {
  const Shape& s = images.shape();
  const auto from = images.as<float>();
  std::vector<float> to(from.size());
  const std::int64_t pixels = s[2] * s[3];
  for (std::int64_t n = 0; n < s[0]; ++n) {
    for (std::int64_t c = 0; c < s[1]; ++c) {
      for (std::int64_t p = 0; p < pixels; ++p) {
        to[static_cast<std::size_t>((n * pixels + p) * s[1] + c)] =
            from[static_cast<std::size_t>((n * s[1] + c) * pixels + p)];
      }
    }
  }
  return Tensor(std::move(to), {s[0], s[2], s[3], s[1]});
}

float largest_difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  float most = 0;
  for (std::size_t i = 0; i < a.as<float>().size(); ++i) {
    most = std::max(most, std::abs(a.as<float>()[i] - b.as<float>()[i]));
  }
  return most;
}

// The model zoo's SqueezeNet 1.0 and logits that another program computed of it.
TEST(SqueezeNet, gives_its_stored_logits_and_is_saved_and_loaded) {
  const auto file = models() / "squeezenet1.0_dc_fp32.onnx";
  if (!std::filesystem::exists(file)) {
    GTEST_SKIP() << file << " is not there; LINNET_DATA may name the folder above its folder";
  }
  const OnnxImport import = import_onnx(file, {}, {.device = "cpu"});
  ASSERT_EQ(import.inputs.size(), 1U);
  EXPECT_EQ(import.inputs[0].sample, (Shape{227, 227, 3}));
  EXPECT_EQ(import.inputs[0].axes, (std::vector{2, 3, 1}));
  const Tensor images = channels_last(read_npy(models() / "squeezenet_ref_input.npy"));
  const Tensor wanted = read_npy(models() / "squeezenet_ref_logits.npy");
  const Dataset data({{"input", images}}, {});
  Model model = import.model;
  EXPECT_LT(largest_difference(model.predict(data), wanted), 1e-3F);

  const testing::TemporaryFolder folder;
  model.save(folder.path() / "squeezenet.safetensors");
  Model loaded = Model::load(folder.path() / "squeezenet.safetensors", {.device = "cpu"});
  EXPECT_LT(largest_difference(loaded.predict(data), wanted), 1e-3F);
}

}  // namespace
}  // namespace linnet
