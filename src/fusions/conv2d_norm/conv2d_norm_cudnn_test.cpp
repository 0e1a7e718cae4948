// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cuda_cudnn/conv2d_cases.h"
#include "fusions/conv2d_norm/conv2d_norm.h"

namespace linnet::cuda {
namespace {

/// A residual is added by cuDNN in TF32, and where it is stored in 16 bits and tensor cores take
/// all channels; else by a kernel after it. 16-bit biases are folded so; where a kernel of Linnet's
/// adds them they are f32.
TEST(Conv2dNormCudnn, AgreesWithTheReference) {
  const CudnnLibrary cudnn("fake");
  TuningCache cache;
  for (const std::int64_t filters : {6, 8}) {
    for (const bool residual : {false, true}) {
      for (const Activation activation : {Activation::none, Activation::relu}) {
        const Shape channels{filters};
        Case c{fmt::format("{} {} {}", filters, residual, static_cast<int>(activation)),
               std::make_shared<Conv2dNormOp>(
                   Conv2dNormAttrs{attrs(true),
                                   {.epsilon = 2, .residual = residual, .activation = activation}}),
               {kX, Shape{filters, 3, 3, 8}, channels, channels, channels, channels, channels}};
        if (residual) c.inputs.push_back(Shape{2, 3, 5, filters});
        EXPECT_LT(error_of(c, with(cudnn, Precision::tf32, &cache)), 1e-5) << c.name;
        EXPECT_LT(error_of(c, with(cudnn, Precision::fp32, &cache)), 1e-5) << c.name;
        for (const Half& half : kHalves) {
          const Context context = with(cudnn, half.precision, &cache);
          EXPECT_LT(error_of(c, context), half.error) << c.name;
          EXPECT_LT(error_of(c, context, nullptr, 0, half.type), half.error) << c.name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace linnet::cuda
