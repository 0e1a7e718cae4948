// SPDX-License-Identifier: Apache-2.0
// Test-time augmentation: a network that averages its outputs over several views of an image.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <vector>

#include "fixtures.h"
#include "message_of.h"
#include "temporary_folder.h"

namespace linnet::testing {
namespace {

constexpr std::int64_t kHeight = 5;
constexpr std::int64_t kWidth = 6;
constexpr std::int64_t kChannels = 2;
constexpr std::int64_t kPixels = kHeight * kWidth * kChannels;

std::vector<float> pixels(std::int64_t count) {
  std::vector<float> all;
  for (std::int64_t i = 0; i < count * kPixels; ++i) {
    all.push_back(std::sin(static_cast<float>(i * i % 97)));
  }
  return all;
}

/// As torch.nn.functional.pad(mode='reflect') has it.
std::int64_t mirrored(std::int64_t at, std::int64_t size) {
  at = std::abs(at);
  return at < size ? at : 2 * (size - 1) - at;
}

/// Images moved down and right by `shift`, then mirrored if they are flipped.
Tensor view(std::int64_t count, std::int64_t shift, bool flipped) {
  const std::vector<float> from = pixels(count);
  std::vector<float> to;
  for (std::int64_t n = 0; n < count; ++n) {
    for (std::int64_t y = 0; y < kHeight; ++y) {
      for (std::int64_t x = 0; x < kWidth; ++x) {
        const std::int64_t column = mirrored((flipped ? kWidth - 1 - x : x) - shift, kWidth);
        const std::int64_t row = mirrored(y - shift, kHeight);
        for (std::int64_t c = 0; c < kChannels; ++c) {
          to.push_back(from[static_cast<std::size_t>(
              ((n * kHeight + row) * kWidth + column) * kChannels + c)]);
        }
      }
    }
  }
  return Tensor(std::move(to), {count, kHeight, kWidth, kChannels});
}

Network network(const std::vector<Layer>& last = {}) {
  Network made({kHeight, kWidth, kChannels}, {Conv2d{.filters = 4}, BatchNorm{}, ReLU{},
                                              Dropout{.rate = 0.3}, Flatten{}, Dense{.units = 3}});
  for (const Layer& layer : last) made.add(layer);
  return made;
}

Model model_of(const Network& network, int threads = 2) {
  return Model(network, {.device = "cpu", .threads = threads, .seed = 4});
}

/// Adds a share of what the model predicts for a view.
void add(std::vector<double>& sum, Model& model, const Tensor& samples, double share) {
  const std::vector<float> y = vector_of(model.predict(samples));
  sum.resize(y.size());
  for (std::size_t i = 0; i < y.size(); ++i) sum[i] += share * y[i];
}

void expect_near(const std::vector<float>& got, const std::vector<double>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 2e-6) << i;
}

TEST(Views, AveragePredictions) {
  constexpr std::int64_t kCount = 7;
  Model model = model_of(network());
  for (const std::int64_t shift : {0, 1, 3}) {
    for (const bool flip : {false, true}) {
      if (shift == 0 && !flip) continue;
      std::vector<double> wanted;
      for (const bool flipped : {false, true}) {
        if (flipped && !flip) continue;
        const double share = flip ? 0.5 : 1;
        add(wanted, model, view(kCount, 0, flipped), shift == 0 ? share : share / 2);
        if (shift == 0) continue;
        for (const std::int64_t moved : {shift, -shift}) {
          add(wanted, model, view(kCount, moved, flipped), share / 4);
        }
      }
      Model averaged = model.with_views({.flip = flip, .shift = shift});
      expect_near(vector_of(averaged.predict(view(kCount, 0, false))), wanted);
    }
  }
}

/// The logits are averaged: a last layer is applied to the average.
TEST(Views, AverageWhatGoesIntoTheLastActivation) {
  Model plain = model_of(network());
  std::vector<double> logits;
  add(logits, plain, view(3, 0, false), 0.5);
  add(logits, plain, view(3, 0, true), 0.5);
  Model softmax = model_of(network({Softmax{}})).with_views();
  const std::vector<float> shares = vector_of(softmax.predict(view(3, 0, false)));
  for (std::size_t n = 0; n < 9; n += 3) {
    double sum = 0;
    for (std::size_t i = n; i < n + 3; ++i) sum += std::exp(logits[i]);
    for (std::size_t i = n; i < n + 3; ++i) EXPECT_NEAR(shares[i], std::exp(logits[i]) / sum, 2e-6);
  }
  Model sigmoid = model_of(network({Sigmoid{}})).with_views();
  const std::vector<float> ones = vector_of(sigmoid.predict(view(3, 0, false)));
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(ones[i], 1 / (1 + std::exp(-logits[i])), 2e-6);
  const Dataset data({{"x", view(3, 0, false)}},
                     {{"y", Tensor(std::vector<std::int32_t>{0, 1, 2}, {3})}});
  Model averaged = plain.with_views();
  EXPECT_NEAR(evaluate(averaged, data).loss, evaluate(softmax, data).loss, 1e-6);
}

/// In a file, on threads, in a prepared program, and after another head.
TEST(Views, ArePartOfTheModel) {
  const TemporaryFolder folder;
  Model trained = model_of(network());
  const Dataset data({{"x", view(12, 0, false)}},
                     {{"y", Tensor(std::vector<std::int32_t>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2},
                                   {12})}});
  train(trained, data, {.epochs = 2, .batch = 4});
  trained.set_class_names({"one", "two", "three"});
  Model averaged = trained.with_views({.shift = 1});
  EXPECT_EQ(averaged.class_names(), trained.class_names());
  EXPECT_EQ(averaged.training_record().loss, trained.training_record().loss);
  EXPECT_EQ(averaged.parameter_names(), trained.parameter_names());
  const std::vector<float> wanted = vector_of(averaged.predict(data));
  averaged.save(folder / "views.safetensors");
  for (const int threads : {1, 2, 4}) {
    Model loaded = Model::load(folder / "views.safetensors", {.device = "cpu", .threads = threads});
    EXPECT_EQ(vector_of(loaded.predict(data)), wanted) << threads;
  }
  EXPECT_EQ(vector_of(Predictor(averaged).predict(view(12, 0, false))), wanted);
  // Bytes, too, which the network reads as numbers.
  const Dataset bytes(
      {{"x", Tensor(std::vector<std::uint8_t>(kPixels, 7), {1, kHeight, kWidth, kChannels})}}, {});
  Model same = trained.with_views();
  const std::vector<float> flat = vector_of(same.predict(bytes));
  const std::vector<float> once = vector_of(trained.predict(bytes));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(flat[i], once[i], 1e-5);
}

TEST(Views, OfSeveralInputsChangeTheImagesAlone) {
  FunctionalNetwork functional;
  const Expression image = functional.input("image", {4, 4, 1});
  const Expression hint = functional.input("hint", {2});
  const Expression of_hint = hint | Dense{.units = 2};
  const Network network = functional.build(
      {{"both", concat({image | Flatten{} | Dense{.units = 2}, of_hint}, 0)}, {"hint", of_hint}});
  Model model = model_of(network);
  Model averaged = model.with_views();
  std::vector<float> ramp;
  for (int i = 0; i < 16; ++i) ramp.push_back(static_cast<float>(i));
  const Dataset data({{"image", Tensor(ramp, {1, 4, 4, 1})},
                      {"hint", Tensor(std::vector<float>{1, 2}, {1, 2})}},
                     {});
  const std::vector<Column> once = model.predict_all(data);
  const std::vector<Column> both = averaged.predict_all(data);
  EXPECT_NE(vector_of(both[0].data)[0], vector_of(once[0].data)[0]);
  EXPECT_NEAR(vector_of(both[0].data)[2], vector_of(once[0].data)[2], 1e-6);
  EXPECT_EQ(vector_of(both[1].data), vector_of(once[1].data));
}

/// What was averaged comes back, from a file too, and views replace those that are there.
TEST(Views, AreTakenAwayAndReplaced) {
  const TemporaryFolder folder;
  for (const std::vector<Layer>& last : {std::vector<Layer>{}, {Softmax{}}, {Sigmoid{}}}) {
    Model plain = model_of(network(last));
    const std::vector<float> wanted = vector_of(plain.predict(view(4, 0, false)));
    EXPECT_FALSE(plain.network().views());
    for (const TestViews& views :
         {TestViews{}, {.shift = 1}, {.flip = false, .shift = 3}, {.flip = false, .shift = 4}}) {
      plain.with_views(views).save(folder / "views.safetensors");
      Model loaded = Model::load(folder / "views.safetensors", {.device = "cpu", .threads = 2});
      ASSERT_TRUE(loaded.network().views());
      EXPECT_EQ(loaded.network().views()->flip, views.flip);
      EXPECT_EQ(loaded.network().views()->shift, views.shift);
      EXPECT_EQ(vector_of(loaded.without_views().predict(view(4, 0, false))), wanted);
      EXPECT_EQ(vector_of(loaded.with_views().predict(view(4, 0, false))),
                vector_of(plain.with_views().predict(view(4, 0, false))));
    }
    EXPECT_EQ(plain.without_views().network().to_json(), plain.network().to_json());
  }
}

/// A model without views trains as the one that never had any.
TEST(Views, AModelTrainsAgainWithoutThem) {
  const Dataset data({{"x", view(6, 0, false)}},
                     {{"y", Tensor(std::vector<std::int32_t>{0, 1, 2, 0, 1, 2}, {6})}});
  Model once = model_of(network({Softmax{}}));
  Model again = once.with_views({.shift = 1}).without_views();
  for (Model* model : {&once, &again}) train(*model, data, {.epochs = 2, .batch = 3});
  EXPECT_TRUE(same_bits(once.weights(), again.weights()));
}

TEST(Views, AreEvaluatedBesideOneView) {
  const Dataset data({{"x", view(6, 0, false)}},
                     {{"y", Tensor(std::vector<std::int32_t>{0, 1, 2, 0, 1, 2}, {6})}});
  Model plain = model_of(network());
  Model averaged = plain.with_views({.shift = 1});
  const Evaluation one = evaluate(plain, data);
  const Evaluation several = evaluate(averaged, data);
  EXPECT_NE(one.loss, several.loss);
  EXPECT_EQ(several.one_view, nullptr);
  for (Model* model : {&plain, &averaged}) {
    const Evaluation both = evaluate_views(*model, data, {.shift = 1});
    EXPECT_EQ(both.loss, several.loss);
    EXPECT_EQ(both.accuracy, several.accuracy);
    ASSERT_NE(both.one_view, nullptr);
    EXPECT_EQ(both.one_view->loss, one.loss);
    EXPECT_EQ(both.one_view->samples, 6);
  }
  EXPECT_EQ(message_of([&] { evaluate_views(plain, data, {.flip = false}); }),
            "expected a flip, a shift or both as views; got none");
}

TEST(Views, SayWhatTheyNeed) {
  const auto error = [](const Network& network, const TestViews& views) {
    return message_of([&] { network.with_views(views); });
  };
  EXPECT_EQ(error(Network({3}, {Dense{.units = 2}}), {}),
            "views are of images: expected (height, width, channels) as the input 'input'; got f32 "
            "(3)");
  EXPECT_EQ(error(Network({5, 5, 1}, {Conv2d{.filters = 2}}), {}),
            "views average numbers of the whole image; the output 'output' has (3, 3, 2) a sample");
  EXPECT_EQ(error(network(), {.flip = false}),
            "expected a flip, a shift or both as views; got none");
  EXPECT_EQ(error(network(), {.shift = 5}),
            "expected views shifted by 0 to 4 pixels of images of (5, 6, 2); got 5");
  EXPECT_EQ(error(network(), {.shift = -1}),
            "expected views shifted by 0 to 4 pixels of images of (5, 6, 2); got -1");
}

}  // namespace
}  // namespace linnet::testing
