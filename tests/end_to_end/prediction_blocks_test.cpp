// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/expression.h>
#include <linnet/layers.h>
#include <linnet/predictor.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "model/model_state.h"
#include "model/prediction_blocks.h"
#include "model/predictor_state.h"
#include "runtime/block_runs.h"

namespace linnet::testing {
namespace {

constexpr std::int64_t kSide = 32;
constexpr std::int64_t kBatch = 60;  // seven blocks of 8, and a rest of 4

/// 16 x 32 x 32 floats between layers, few weights, an embedding, and noise that follows a sample's
/// place.
Network wide_network() {
  FunctionalNetwork f;
  Expression x = f.input("image", {kSide, kSide, 2});
  for (int layer = 0; layer < 3; ++layer) {
    x = x | Conv2d{.filters = 16, .padding = Padding2d::same()} | BatchNorm{} | ReLU{};
  }
  const Expression noise = f.normal({16});
  const Expression ids =
      f.input("word", {4}, DType::i32) | Embedding{.vocabulary = 50, .features = 4} | Flatten{};
  return f.build({{"classes", ((x | GlobalAvgPool2d{}) + noise) | Dense{.units = 3}},
                  {"word", ids | Dense{.units = 2}}});
}

Tensor wave_images(const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(std::sin(0.37 * static_cast<double>(i)));
  }
  return {std::move(values), shape};
}

State drawn_samples() {
  std::vector<std::int32_t> ids(kBatch * 4);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * i % 50);
  State all;
  all.set("image", wave_images({kBatch, kSide, kSide, 2}));
  all.set("word", Tensor(std::move(ids), {kBatch, 4}));
  return all;
}

std::vector<float> floats_of(const State& outputs) {
  std::vector<float> all;
  for (const State::Entry& entry : outputs) {
    const auto of = entry.value.as<float>();
    all.insert(all.end(), of.begin(), of.end());
  }
  return all;
}

Graph graph_of(const Model& model, std::int64_t batch) {
  return prediction_step(model.state().definition(), model.state().definition().inputs[0].dtype,
                         batch, OutputForm::plain, supports_of(*model.state().backend));
}

std::int64_t chosen_block(const Network& network, std::int64_t batch) {
  const Model model(network, {.device = "cpu", .threads = 1});
  return prediction_block(graph_of(model, batch), batch);
}

TEST(PredictionBlocks, HaveTheBitsOfABlockAloneAtAnyNumberOfThreads) {
  const State all = drawn_samples();
  ASSERT_EQ(chosen_block(wide_network(), kBatch), 8);
  std::vector<float> wanted;
  {
    Model model(wide_network(), {.device = "cpu", .threads = 1});
    PredictorState alone{.model = model.state(), .in_blocks = false};
    std::vector<float> classes(kBatch * 3);
    std::vector<float> words(kBatch * 2);
    const Tensor to_classes = Tensor::borrow(classes, {kBatch, 3});
    const Tensor to_words = Tensor::borrow(words, {kBatch, 2});
    for (std::int64_t begin = 0; begin < kBatch; begin += 8) {
      const std::int64_t end = std::min(begin + 8, kBatch);
      const std::array in{all["image"].rows(begin, end).bytes(),
                          all["word"].rows(begin, end).bytes()};
      const std::array out{to_classes.rows(begin, end).writable_bytes(),
                           to_words.rows(begin, end).writable_bytes()};
      predict_batch(alone, end - begin, DType::f32, in, out, static_cast<std::uint64_t>(begin));
    }
    wanted = classes;
    wanted.insert(wanted.end(), words.begin(), words.end());
  }
  for (const int threads : {1, 2, 3, 4, 7}) {
    const Model model(wide_network(), {.device = "cpu", .threads = threads});
    const Predictor predictor(model);
    EXPECT_EQ(floats_of(predictor.predict(all)), wanted) << threads << " threads";
    EXPECT_EQ(floats_of(predictor.predict(all)), wanted) << "again, " << threads << " threads";
  }
}

/// Kernels of many kinds run for several blocks at the same time.
TEST(PredictionBlocks, HaveTheSameBitsWithEveryKindOfLayer) {
  const auto same = [](std::int64_t filters, std::int64_t groups = 1) {
    return Conv2d{.filters = filters, .padding = Padding2d::same(), .groups = groups};
  };
  const Network images({kSide, kSide, 8},
                       {same(8, 8), BatchNorm{}, SiLU{}, same(32), BatchNorm{}, ReLU{},
                        Conv2d{.filters = 16, .kernel = 1}, GELU{}, same(16, 4), MaxPool2d{},
                        Conv2d{.filters = 24, .kernel = 5, .stride = 2}, UpSample2d{.scale = 2},
                        ConvTranspose2d{.filters = 8, .kernel = 2, .stride = 2}, AvgPool2d{},
                        GlobalAvgPool2d{}, Dense{.units = 40}, Dense{.units = 3}});
  const Network sequences({96, 32},
                          {LayerNorm{}, MultiHeadAttention{.heads = 2}, Dense{.units = 64}, GELU{},
                           GRU{.units = 32, .return_sequences = true},
                           Conv1d{.filters = 32, .kernel = 3}, ReLU{}, Flatten{}, Dense{.units = 5},
                           Softmax{}});
  for (const Network* network : {&images, &sequences}) {
    ASSERT_LT(chosen_block(*network, kBatch), kBatch);
    const Tensor samples = wave_images(network->input_shape().batched(kBatch));
    const Tensor wanted =
        Predictor(Model(*network, {.device = "cpu", .threads = 1})).predict(samples);
    for (const int threads : {2, 3, 8}) {
      const Predictor predictor(Model(*network, {.device = "cpu", .threads = threads}));
      for (int repetition = 0; repetition < 5; ++repetition) {
        const Tensor outputs = predictor.predict(samples);
        ASSERT_TRUE(std::ranges::equal(outputs.as<float>(), wanted.as<float>())) << threads;
      }
    }
  }
}

TEST(PredictionBlocks, CallersMayPredictAtTheSameTime) {
  const State all = drawn_samples();
  for (const int threads : {1, 2}) {
    const Model model(wide_network(), {.device = "cpu", .threads = threads});
    const Predictor predictor(model);
    const std::vector<float> wanted = floats_of(predictor.predict(all));
    std::vector<int> wrong(3);
    std::vector<std::thread> callers;
    for (int& count : wrong) {
      callers.emplace_back([&] {
        for (int i = 0; i < 5; ++i) count += floats_of(predictor.predict(all)) == wanted ? 0 : 1;
      });
    }
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(wrong, std::vector<int>(3)) << threads << " threads";
  }
}

TEST(PredictionBlocks, NeedLessMemory) {
  Model model(wide_network(), {.device = "cpu", .threads = 2});
  const PreparedBatch whole(model.state(), kBatch, DType::f32, OutputForm::plain, false);
  const PreparedBatch blocks(model.state(), kBatch, DType::f32, OutputForm::plain, true);
  EXPECT_LT(blocks.bytes(), whole.bytes() * 2 / 3);
}

TEST(PredictionBlocks, FollowFromTheNetwork) {
  const auto conv = [](std::int64_t filters) {
    return Conv2d{.filters = filters, .padding = Padding2d::same()};
  };
  const Network small({8, 8, 2}, {conv(4), conv(4)});
  EXPECT_EQ(chosen_block(small, 64), 64) << "fits the cache";
  const Network deep({kSide, kSide, 2}, {conv(16), conv(16), conv(16)});
  EXPECT_EQ(chosen_block(deep, 64), 16);
  EXPECT_EQ(chosen_block(deep, 67), 16) << "and a rest of three";
  EXPECT_EQ(chosen_block(deep, 1), 1);
  const Network heavy({8, 8, 256}, {conv(512), conv(512), conv(512)});
  EXPECT_EQ(chosen_block(heavy, 64), 64) << "weights would be read for each block";
  const Network recurrent({400, 64}, {LSTM{.units = 128}});
  EXPECT_EQ(chosen_block(recurrent, 64), 64) << "weights of states, at each step";
}

}  // namespace
}  // namespace linnet::testing
