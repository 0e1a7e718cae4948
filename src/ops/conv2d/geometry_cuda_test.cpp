// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/geometry_cuda.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace linnet::cuda {
namespace {

TEST(ConvGeometry, DividesAsIntegersDo) {
  constexpr int kMost = INT32_MAX;
  for (const int d : {1, 2, 3, 5, 7, 10, 12, 641, 65535, 65536, 65537, 1 << 30, kMost - 1, kMost}) {
    const Divider divider(d);
    for (const int n : {0, 1, d - 1, d, kMost / d * d - 1, kMost / d * d, kMost - 1, kMost}) {
      EXPECT_EQ(divider.quotient(n), n / d) << n << " / " << d;
    }
  }
}

/// An output reads an input at a tap where, backwards, the input is read by that output.
TEST(ConvGeometry, ReadsBackwardsWhatReadsForwards) {
  struct Axis {
    int in, kernel, stride, dilation, pad;
  };
  for (const Axis& a : {Axis{7, 3, 1, 1, 0},
                        {7, 3, 1, 1, 1},
                        {8, 3, 2, 1, 1},
                        {9, 2, 3, 1, 0},
                        {9, 3, 2, 2, 2},
                        {4, 5, 3, 1, 4},
                        {1, 1, 2, 1, 0}}) {
    const int outputs = (a.in + 2 * a.pad - (a.kernel - 1) * a.dilation - 1) / a.stride + 1;
    const ConvAxis axis(a.in, outputs, a.stride, a.dilation, a.pad);
    for (int k = 0; k < a.kernel; ++k) {
      const int apart = k * a.dilation;
      std::vector<int> readers(static_cast<std::size_t>(a.in), -1);
      for (int out = 0; out < outputs; ++out) {
        const int wanted = out * a.stride - a.pad + apart;
        const int in = axis.read<false>(axis.begin<false>(out), apart);
        EXPECT_EQ(in, wanted >= 0 && wanted < a.in ? wanted : -1);
        if (in >= 0) readers[static_cast<std::size_t>(in)] = out;
      }
      for (int in = 0; in < a.in; ++in) {
        EXPECT_EQ(axis.read<true>(axis.begin<true>(in), apart),
                  readers[static_cast<std::size_t>(in)])
            << "tap " << k << " of input " << in;
      }
    }
  }
}

}  // namespace
}  // namespace linnet::cuda
