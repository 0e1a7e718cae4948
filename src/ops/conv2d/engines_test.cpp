// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "backend/cpu/products/bf16_tiles.h"
#include "ops/conv2d/bf16_engine_cpu.h"
#include "ops/conv2d/grouped_cpu.h"

namespace linnet::cpu {
namespace {

using Data = std::vector<float>;

constexpr std::int64_t kMostBiases = 140;

Data random_data(std::int64_t count, std::uint32_t seed) {
  std::minstd_rand random(seed);
  Data data(static_cast<std::size_t>(count));
  for (float& x : data) x = static_cast<float>(random() % 2001) / 1000.0F - 1.0F;
  return data;
}

/// Runs a kernel's tasks one after the other on memory that starts as NaN.
Data run(const Kernel& kernel, const Data& a, const Data& b, std::int64_t outputs) {
  Data out(static_cast<std::size_t>(outputs), std::numeric_limits<float>::quiet_NaN());
  std::vector<std::byte> workspace(kernel.workspace_bytes + 64, std::byte{0xFF});
  std::vector<std::byte> packed(kernel.packed_bytes + 64, std::byte{0xFF});
  std::vector<std::byte> scratch(kernel.scratch_bytes + 64, std::byte{0xFF});
  const Data bias = random_data(kMostBiases, 4);  // a convolution's third operand
  std::vector<void*> inputs{const_cast<float*>(a.data()), const_cast<float*>(b.data()),
                            const_cast<float*>(bias.data())};
  std::vector<void*> results{out.data()};
  const auto aligned = [](std::vector<std::byte>& bytes) {
    return bytes.data() + (64 - reinterpret_cast<std::uintptr_t>(bytes.data()) % 64) % 64;
  };
  const Args args{inputs, results, aligned(workspace), aligned(packed)};
  const StepInfo step;
  for (const std::vector<Stage>* stages : {&kernel.packing, &kernel.stages}) {
    for (const Stage& stage : *stages) {
      for (int task = 0; task < stage.tasks; ++task) {
        stage.run(args, {task, aligned(scratch), &step});
      }
    }
  }
  return out;
}

void expect_close(const Data& actual, const Data& expected, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], 2e-4) << what << " at " << i;
  }
}

struct Case {
  Shape x, w;
  Conv2dAttrs attrs;
};

std::vector<Case> cases() {
  return {
      {{3, 8, 9, 16},
       {24, 3, 3, 16},
       {.pad_top = 1, .pad_bottom = 1, .pad_left = 1, .pad_right = 1}},
      {{3, 8, 9, 3}, {16, 5, 5, 3}, {.stride_h = 2, .stride_w = 2}},
      {{5, 7, 7, 16}, {32, 1, 1, 16}, {}},
      {{3, 7, 7, 16}, {16, 3, 3, 1}, {.groups = 16, .pad_top = 1, .pad_right = 2}},
      {{40, 5, 4, 16},
       {16, 3, 2, 1},
       {.stride_w = 2, .dilation_h = 2, .groups = 16, .pad_left = 1}},
      {{3, 9, 31, 20},  // runs of pixels of every length, and channels that do not fill vectors
       {20, 7, 7, 1},
       {.groups = 20, .pad_top = 3, .pad_bottom = 3, .pad_left = 3, .pad_right = 3}},
      {{2, 12, 43, 13},
       {13, 5, 5, 1},
       {.stride_h = 2, .stride_w = 2, .groups = 13, .pad_top = 2, .pad_left = 2, .pad_right = 2}},
      {{2, 8, 40, 5},  // more taps than registers sum, of which a stride skips some
       {5, 2, 11, 1},
       {.stride_w = 3, .dilation_w = 2, .groups = 5, .pad_left = 30, .pad_right = 4}},
      {{1, 6, 9, 3}, {3, 2, 2, 1}, {.stride_h = 3, .stride_w = 4, .groups = 3}},
      {{2, 3, 15, 140},  // blocks of one to eight vectors of channels
       {140, 3, 3, 1},
       {.groups = 140, .pad_top = 1, .pad_bottom = 1, .pad_left = 1, .pad_right = 1}},
      {{3, 7, 8, 16}, {32, 3, 3, 8}, {.stride_h = 2, .groups = 2}},
      {{3, 9, 7, 32},  // small groups that share vectors
       {32, 3, 3, 4},
       {.groups = 8, .pad_top = 1, .pad_bottom = 1, .pad_left = 1, .pad_right = 1}},
      {{2, 8, 9, 48}, {48, 2, 3, 2}, {.stride_h = 2, .stride_w = 2, .groups = 24, .pad_left = 1}},
      {{2, 12, 13, 32}, {32, 3, 3, 8}, {.stride_w = 2, .groups = 4, .pad_top = 1}},
      {{3, 10, 12, 1},  // few filters: several pixels are one
       {2, 5, 5, 1},
       {.pad_top = 2, .pad_bottom = 2, .pad_left = 2, .pad_right = 2}},
      {{2, 9, 13, 3}, {4, 3, 3, 3}, {.stride_h = 2, .stride_w = 2, .pad_left = 1}},
      {{2, 40, 40, 64}, {16, 3, 3, 64}, {}},  // several blocks of patches a task
      {{2, 9, 9, 8}, {8, 3, 3, 8}, {.dilation_h = 2, .dilation_w = 3}},
      {{5, 1, 1, 20},  // one pixel meets one tap
       {50, 3, 3, 20},
       {.pad_top = 1, .pad_bottom = 1, .pad_left = 1, .pad_right = 1}},
      {{9, 2, 2, 12},
       {7, 3, 3, 12},
       {.stride_h = 2,
        .stride_w = 2,
        .pad_top = 1,
        .pad_bottom = 1,
        .pad_left = 1,
        .pad_right = 1}},
      {{20, 2, 2, 24},  // every output sees every pixel
       {10, 3, 3, 24},
       {.pad_top = 1, .pad_bottom = 1, .pad_left = 1, .pad_right = 1}},
      {{17, 3, 2, 9},  // not every one: rows of zeros, a stride and a dilation
       {33, 4, 3, 9},
       {.stride_h = 2,
        .dilation_w = 2,
        .pad_top = 2,
        .pad_bottom = 3,
        .pad_left = 2,
        .pad_right = 4}},
      {{30, 7, 6, 20},  // tiles of 2x2 outputs that the border cuts
       {21, 3, 3, 20},
       {.pad_top = 1, .pad_left = 2, .pad_right = 1}},
      {{57, 10, 9, 20},  // tiles of 4x4 outputs that the border cuts
       {37, 3, 3, 20},
       {.pad_top = 1, .pad_bottom = 1, .pad_left = 1, .pad_right = 1}},
      {{2, 14, 13, 50},  // more terms than one block sums
       {26, 3, 3, 50},
       {.pad_top = 1, .pad_bottom = 1, .pad_left = 1, .pad_right = 1}},
      {{2, 20, 20, 3},
       {64, 7, 7, 3},
       {.stride_h = 2,
        .stride_w = 2,
        .pad_top = 3,
        .pad_bottom = 3,
        .pad_left = 3,
        .pad_right = 3}},
      {{3, 8, 8, 400}, {33, 1, 1, 400}, {.stride_h = 2, .stride_w = 3}},
      {{2, 11, 6, 5}, {4, 4, 2, 5}, {.stride_h = 3, .pad_top = 2, .pad_right = 1}},
      {{2, 5, 5, 200}, {10, 3, 3, 200}, {.pad_top = 3, .pad_left = 2}},  // rows of padding alone
      {{50, 9, 8, 12}, {8, 5, 4, 12}, {}},  // dx: patches that the border cuts
      {{29, 6, 5, 8},                       // y as well, and pixels that meet padding alone
       {11, 4, 3, 8},
       {.stride_h = 2, .pad_top = 5, .pad_bottom = 3, .pad_left = 3, .pad_right = 2}},
      {{3, 9, 11, 35},  // results so few that vectors lie along the terms
       {1, 3, 3, 35},
       {.pad_top = 1, .pad_bottom = 1, .pad_left = 1, .pad_right = 1}},
      {{5, 7, 6, 33}, {2, 1, 1, 33}, {}},
      {{2, 12, 9, 40}, {4, 4, 5, 40}, {.stride_h = 2, .stride_w = 2, .pad_left = 3}},
      {{3, 8, 9, 3},  // dx's
       {37, 3, 3, 3},
       {.pad_top = 1, .pad_bottom = 1, .pad_left = 1, .pad_right = 1}},
      {{2, 12, 10, 3}, {48, 4, 4, 3}, {.stride_h = 2, .stride_w = 2, .pad_top = 1, .pad_left = 1}},
      {{25, 10, 9, 8},  // dx of a stride: phases of few taps
       {40, 5, 5, 8},
       {.stride_h = 2, .stride_w = 2, .pad_top = 1}},
  };
}

/// Every engine that takes a shape computes what im2col does, which the operator's own test checks
/// against the reference.
TEST(ConvEngines, AgreeWithIm2col) {
  const std::vector<const ConvEngine*> engines{&pointwise_engine(), &direct_engine(),
                                               &depthwise_engine(), &whole_image_engine(),
                                               &winograd_engine(),  &onednn_engine(),
                                               &grouped_engine(),   &joined_pixels_engine()};
  std::vector<int> taken(engines.size(), 0);
  for (const auto& [x, w, attrs] : cases()) {
    const ConvShape s = conv_shape(attrs, x, w, "");
    const Data image = random_data(x.elements(), 1);
    const Data weights = random_data(w.elements(), 2);
    const Data dz = random_data(s.n * s.out_pixels() * s.co, 3);
    const auto outputs = static_cast<std::int64_t>(dz.size());
    const ConvEngine& base = im2col_engine();
    for (std::size_t e = 0; e < engines.size(); ++e) {
      const ConvEngine* engine = engines[e];
      const std::string what =
          std::string(engine->name) + " on x=" + to_string(x) + ", w=" + to_string(w);
      for (const Activation activation : {Activation::relu, Activation::tanh}) {
        const auto kernel = engine->forward(s, {true, activation});
        if (!kernel) continue;
        expect_close(run(*kernel, image, weights, outputs),
                     run(*base.forward(s, {true, activation}), image, weights, outputs), what);
        taken[e] += activation == Activation::relu ? 1 : 0;
      }
      if (const auto kernel = engine->grad_input(s)) {
        expect_close(run(*kernel, dz, weights, x.elements()),
                     run(*base.grad_input(s), dz, weights, x.elements()), what + " grad_input");
        ++taken[e];
      }
      if (const auto kernel = engine->grad_weight(s)) {
        expect_close(run(*kernel, image, dz, w.elements()),
                     run(*base.grad_weight(s), image, dz, w.elements()), what + " grad_weight");
        ++taken[e];
      }
    }
  }
  EXPECT_GT(taken[0], 0);
  EXPECT_EQ(taken[1], 3 * 24);  // all without groups and dilation
  EXPECT_GT(taken[2], 0);
  EXPECT_EQ(taken[3], 3 * 2);  // of 20 images and of 17
  EXPECT_EQ(taken[4], 3 * 3);  // of 57 and of 30 images, and of two large ones
  EXPECT_EQ(taken[6], (takes_groups({32, 4}) ? 2 * 3 : 0) + (takes_groups({32, 8}) ? 1 : 0));
  EXPECT_EQ(taken[7], float_lanes() >= 8 ? 2 : float_lanes() >= 4 ? 1 : 0);
  // oneDNN's own engines depend on the processor: none is promised.
  RecordProperty("onednn", taken[5]);
}

/// On operands that bfloat16 holds own bf16 products sum what im2col sums.
TEST(ConvEngines, Bf16TilesAgreeWithIm2colOnRoundedOperands) {
  if (!has_bf16_tiles()) GTEST_SKIP() << "no AVX512_BF16 here";
  std::vector<Case> all = cases();
  all.push_back({{70, 8, 8, 16}, {48, 3, 3, 16}, {.pad_top = 1, .pad_left = 1}});  // parts of lines
  all.push_back({{2, 3, 3, 40}, {1100, 3, 3, 40}, {.pad_top = 2}});  // of channels and columns
  all.push_back({{1500, 1, 1, 71}, {39, 1, 1, 71}, {}});             // a dense layer
  all.push_back({{4, 1, 1, 300}, {400, 1, 1, 300}, {}});
  const auto rounded = [](Data data) {
    round_to_bf16(data.data(), static_cast<std::int64_t>(data.size()), data.data());
    return data;
  };
  const ConvEngine& base = im2col_engine();
  const ConvEngine& own = bf16_tiles_engine();
  std::array<int, 3> taken{};
  for (const auto& [x, w, attrs] : all) {
    const ConvShape s = conv_shape(attrs, x, w, "");
    const Data image = rounded(random_data(x.elements(), 1));
    const Data weights = rounded(random_data(w.elements(), 2));
    const Data dz = rounded(random_data(s.n * s.out_pixels() * s.co, 3));
    const auto outputs = static_cast<std::int64_t>(dz.size());
    const std::string what = "x=" + to_string(x) + ", w=" + to_string(w);
    const ConvTail tail{.bias = s.co <= kMostBiases, .activation = Activation::relu};
    if (const auto kernel = own.forward(s, tail)) {
      expect_close(run(*kernel, image, weights, outputs),
                   run(*base.forward(s, tail), image, weights, outputs), what);
      ++taken[0];
    }
    if (const auto kernel = own.grad_input(s)) {
      expect_close(run(*kernel, dz, weights, x.elements()),
                   run(*base.grad_input(s), dz, weights, x.elements()), what + " grad_input");
      ++taken[1];
    }
    if (const auto kernel = own.grad_weight(s)) {
      expect_close(run(*kernel, image, dz, w.elements()),
                   run(*base.grad_weight(s), image, dz, w.elements()), what + " grad_weight");
      ++taken[2];
    }
  }
  EXPECT_GT(taken[0], 15);
  EXPECT_GT(taken[1], 9);
  EXPECT_GT(taken[2], 15);
}

/// Its transforms add and subtract before and after the products: a few roundings, no more.
TEST(ConvEngines, WinogradIsAFewRoundingsFromDirectSums) {
  constexpr double kOfLargest = 4e-6;
  const auto check = [](std::int64_t images, std::int64_t filters, bool keeps_weights = false) {
    const ConvShape s = conv_shape({.pad_top = 1, .pad_bottom = 1, .pad_left = 1, .pad_right = 1},
                                   {images, 12, 12, 64}, {filters, 3, 3, 64}, "");
    const Data x = random_data(s.n * s.in_pixels() * s.c, 1);
    const Data w = random_data(s.weights(), 2);
    const Data dz = random_data(s.n * s.out_pixels() * s.co, 3);
    const auto expect_near = [&](const Data& actual, const Data& expected, const char* what) {
      double largest = 0;
      double off = 0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
        ASSERT_TRUE(std::isfinite(actual[i])) << what << " of " << images << " images at " << i;
        off = std::max(off, std::abs(static_cast<double>(actual[i]) - expected[i]));
      }
      EXPECT_LE(off, kOfLargest * largest) << what << " of " << images << " images";
    };
    const ConvEngine& fast = winograd_engine();
    const ConvEngine& plain = direct_engine();
    const auto outputs = static_cast<std::int64_t>(dz.size());
    const auto inputs = static_cast<std::int64_t>(x.size());
    for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu}) {
      const ConvTail tail{.bias = true, .activation = activation, .keeps_weights = keeps_weights};
      expect_near(run(*fast.forward(s, tail), x, w, outputs),
                  run(*plain.forward(s, tail), x, w, outputs), "forward");
    }
    if (keeps_weights) return;
    expect_near(run(*fast.grad_input(s), dz, w, inputs), run(*plain.grad_input(s), dz, w, inputs),
                "grad_input");
    expect_near(run(*fast.grad_weight(s), x, dz, s.weights()),
                run(*plain.grad_weight(s), x, dz, s.weights()), "grad_weight");
  };
  check(16, 64);       // tiles of 2x2 outputs
  check(64, 64);       // of 4x4
  check(64, 96);       // and gradients of two parts of the filters
  check(2, 64, true);  // 18 tiles, of kept weights
}

}  // namespace
}  // namespace linnet::cpu
