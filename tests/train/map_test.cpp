// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <set>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "lines.h"
#include "message_of.h"
#include "weights.h"

namespace linnet::testing {
namespace {

Model model_of(int threads = 2) {
  return Model(Network({3}, {Dense{.units = 8}, Tanh{}, Dense{.units = 1}}),
               {.device = "cpu", .threads = threads, .seed = 3});
}

/// (x0, x1) becomes (x0, x1, x0 x1).
void with_product(const Tensor& from, Tensor& to, const RecordPlace& /*place*/) {
  const std::span<const float> x = from.as<float>();
  const std::span<float> y = to.as_writable<float>();
  y[0] = x[0];
  y[1] = x[1];
  y[2] = x[0] * x[1];
}

Dataset resident() {
  const Dataset data = line_data(30);
  std::vector<float> made;
  const std::vector<float> x = vector_of(first_input(data));
  for (std::size_t i = 0; i < x.size(); i += 2) {
    made.insert(made.end(), {x[i], x[i + 1], x[i] * x[i + 1]});
  }
  return data_of(records(std::move(made), {3}), first_target(data));
}

TEST(Map, TrainsAsOnRecordsThatWereMadeBefore) {
  const auto trained = [](const Dataset& data, int threads, int decoders, bool shuffle) {
    const auto [training, validation] = data.split(0.3, {.seed = 5});
    Trainer trainer(model_of(threads), {.optimizer = Adam{.learning_rate = 0.02}}, {.seed = 1});
    const History history = trainer.fit(training, {.epochs = 3,
                                                   .batch = 4,
                                                   .validation = validation,
                                                   .shuffle = shuffle,
                                                   .decoders = decoders});
    std::vector<float> all = all_weights(trainer.model());
    for (const EpochReport& epoch : history.epochs) {
      all.insert(all.end(), epoch.step_losses.begin(), epoch.step_losses.end());
      all.push_back(static_cast<float>(epoch.validation.loss));
    }
    return all;
  };
  const Dataset mapped = line_data(30).map("x", {.record = {3}}, with_product);
  EXPECT_EQ(mapped.size(), 30);
  EXPECT_EQ(mapped.column("x").record(), Shape{3});
  for (const bool shuffle : {true, false}) {
    const std::vector<float> wanted = trained(resident(), 1, 0, shuffle);
    for (const int decoders : {1, 3}) {
      EXPECT_EQ(trained(mapped, decoders, decoders, shuffle), wanted) << decoders;
    }
  }
}

TEST(Map, ComposesAndPredicts) {
  const Dataset mapped = line_data(30).map("x", {.record = {3}}, with_product);
  const Dataset twice =
      mapped.map("x", {.record = {3}}, [](const Tensor& from, Tensor& to, const RecordPlace&) {
        for (std::size_t i = 0; i < 3; ++i) to.as_writable<float>()[i] = -from.as<float>()[i];
      });
  Dataset negative = resident();
  std::vector<float> x = vector_of(first_input(negative));
  for (float& value : x) value = -value;
  negative = data_of(records(std::move(x), {3}), first_target(negative));
  Model model = model_of();
  EXPECT_TRUE(same_bits(model.predict(twice, 7), model.predict(negative, 7)));
}

TEST(Map, TellsRowEpochAndKey) {
  std::mutex mutex;
  std::set<std::tuple<std::int64_t, std::int64_t, std::uint64_t>> seen;
  const auto watching = [&](std::uint64_t seed) {
    return line_data(12).map("x", {.record = {3}, .seed = seed},
                             [&](const Tensor& from, Tensor& to, const RecordPlace& place) {
                               with_product(from, to, place);
                               const std::scoped_lock lock(mutex);
                               seen.insert({place.epoch, place.row, place.key});
                             });
  };
  const auto fit = [&](const Dataset& data) {
    seen.clear();
    Trainer trainer(model_of());
    trainer.fit(data, {.epochs = 2, .batch = 4});
    trainer.evaluate(data);
    return seen;
  };
  const auto places = fit(watching(1));
  EXPECT_EQ(places.size(), 3U * 12);
  std::set<std::uint64_t> keys;
  std::set<std::pair<std::int64_t, std::int64_t>> rows;
  for (const auto& [epoch, row, key] : places) {
    keys.insert(key);
    rows.insert({epoch, row});
  }
  EXPECT_EQ(keys.size(), 3U * 12);
  EXPECT_EQ(rows.size(), 3U * 12);
  EXPECT_EQ(*rows.begin(), std::pair(std::int64_t{0}, std::int64_t{0}));
  EXPECT_EQ(*rows.rbegin(), std::pair(std::int64_t{2}, std::int64_t{11}));
  EXPECT_EQ(fit(watching(1)), places);
  EXPECT_NE(fit(watching(2)), places);
  const std::vector<std::int64_t> last{11, 3};
  const auto taken = fit(watching(1).take(last));
  EXPECT_EQ(taken.size(), 3U * 2);
  for (const auto& place : taken) {
    EXPECT_TRUE(std::get<1>(place) == 11 || std::get<1>(place) == 3);
    EXPECT_TRUE(places.contains(place));
  }
}

TEST(Map, KeepsWhatElseTheDataSetHas) {
  Dataset data = line_data(3);
  data.set_weights(Tensor(std::vector<float>{1, 2, 3}));
  data.set_info({.name = "lines"});
  const Dataset mapped = data.map("x", {.record = {3}}, with_product);
  EXPECT_EQ(vector_of(mapped.weights()), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(mapped.info().name, "lines");
}

TEST(Map, ErrorsNameColumnAndRow) {
  const Dataset bad =
      line_data(12).map("x", {.record = {3}},
                        [](const Tensor& from, Tensor& to, const RecordPlace& place) {
                          if (place.row == 7) throw std::runtime_error("no such sound");
                          with_product(from, to, place);
                        });
  Model model = model_of();
  const char* const message = "the transform of the column 'x' failed at row 7: no such sound";
  EXPECT_EQ(message_of([&] { train(model, bad, {.epochs = 1, .batch = 4}); }), message);
  EXPECT_EQ(message_of([&] { model.predict(bad); }), message);
  const Dataset data = line_data(4);
  EXPECT_EQ(message_of([&] { data.map("z", {.record = {3}}, with_product); }),
            "the data set 'data' has no column 'z'; it has 'x', 'y'");
  EXPECT_EQ(message_of([&] { data.map("x", {.record = {3}}, {}); }),
            "the transform of the column 'x' is an empty function");
  EXPECT_EQ(message_of([&] { data.map("x", {.record = {3}, .dtype = DType::f64}, with_product); }),
            "the source of the column 'x' gives f64; expected u8, f32 or i32");
}

TEST(Map, ATensorThatIsAssignedIsTheRecord) {
  const Dataset data = line_data(30);
  const Dataset same =
      data.map("x", {.record = {2}},
               [](const Tensor& from, Tensor& to, const RecordPlace&) { to = from; });
  Model model(Network({2}, {Dense{.units = 1}}), {.device = "cpu"});
  EXPECT_TRUE(same_bits(model.predict(same), model.predict(data)));
  const Dataset other =
      data.map("x", {.record = {3}},
               [](const Tensor& from, Tensor& to, const RecordPlace&) { to = from; });
  EXPECT_EQ(message_of([&] { model_of().predict(other); }),
            "the transform of the column 'x' failed at row 0: it made `to` f32 (2); expected f32 "
            "(3)");
}

TEST(Map, WhatATransformReadsStaysAsItIs) {
  const Dataset data = line_data(4);
  const std::vector<float> before = vector_of(first_input(data));
  const auto overwriting = [](const Tensor& from, Tensor& to, const RecordPlace&) {
    Tensor alias = from;
    alias.as_writable<float>()[0] = 7;
    to = alias;
  };
  const Dataset once = data.map("x", {.record = {2}}, overwriting);
  const Dataset twice =
      data.map("x", {.record = {2}},
               [](const Tensor& from, Tensor& to, const RecordPlace&) { to = from; })
          .map("x", {.record = {2}}, overwriting);
  Model model(Network({2}, {Dense{.units = 1}}), {.device = "cpu"});
  for (const Dataset& mapped : {once, twice}) {
    EXPECT_EQ(message_of([&] { model.predict(mapped); }),
              "the transform of the column 'x' failed at row 0: a tensor f32 (2) is read-only, "
              "since it borrows const memory; clone() it");
  }
  EXPECT_EQ(vector_of(first_input(data)), before);
}

TEST(Map, NanIsNamedByColumnAndRow) {
  const auto with_nan = [](std::int64_t row, std::size_t element) {
    return [=](const Tensor& from, Tensor& to, const RecordPlace& place) {
      with_product(from, to, place);
      if (place.row == row) to.as_writable<float>()[element] = NAN;
    };
  };
  const Dataset mapped = line_data(12).map("x", {.record = {3}}, with_nan(5, 2));
  const char* const message =
      "the transform of the column 'x' made nan of row 5, at element 2 of its f32 (3)";
  Model model = model_of();
  EXPECT_EQ(message_of([&] { train(model, mapped, {.epochs = 1, .batch = 4}); }), message);
  EXPECT_EQ(message_of([&] { model.predict(mapped); }), message);
  // In the padding of a sequence it may stand.
  const Tensor sequences(std::vector<float>(12, 0.5F), {2, 3, 2});
  const Dataset padded =
      Dataset(
          {{.name = "x", .data = sequences, .lengths = Tensor(std::vector<std::int32_t>{1, 3})}},
          {{"y", Tensor(DType::f32, {2, 1})}})
          .map("x", {.record = {3, 2}},
               [](const Tensor& from, Tensor& to, const RecordPlace& place) {
                 std::ranges::copy(from.as<float>(), to.as_writable<float>().begin());
                 if (place.row == 0) to.as_writable<float>()[2] = NAN;
               });
  Model pooled(Network({3, 2}, {Lengths{}, GlobalAvgPool1d{}, Dense{.units = 1}}),
               {.device = "cpu"});
  EXPECT_EQ(message_of([&] { train(pooled, padded, {.epochs = 1}); }), "");
}

TEST(Map, MetricsReadAMappedTarget) {
  const Dataset data = line_data(30);
  const Dataset mapped =
      data.map("y", {.record = {1}}, [](const Tensor& from, Tensor& to, const RecordPlace&) {
        to.as_writable<float>()[0] = 2 * from.as<float>()[0];
      });
  std::vector<float> doubled = vector_of(first_target(data));
  for (float& value : doubled) value *= 2;
  const Dataset resident = data_of(first_input(data), Tensor(doubled, {30, 1}));
  Model model(Network({2}, {Dense{.units = 1}}), {.device = "cpu"});
  const Metrics got = evaluate_metrics(model, mapped);
  const Metrics wanted = evaluate_metrics(model, resident);
  EXPECT_EQ(got.kind, Metrics::Kind::values);
  EXPECT_EQ(got.rmse, wanted.rmse);
  EXPECT_EQ(got.r_squared, wanted.r_squared);
  const std::vector<float> y = predictions_of(model, resident);
  EXPECT_EQ(measure(y, mapped).mae, wanted.mae);
}

}  // namespace
}  // namespace linnet::testing
