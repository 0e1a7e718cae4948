// SPDX-License-Identifier: Apache-2.0
// Which column of a data set belongs to which input and output of a network, and what is read of
// it.
#include "model/bind_columns.h"

#include <gtest/gtest.h>
#include <linnet/expression.h>
#include <linnet/layers.h>
#include <linnet/trainer.h>

#include <cmath>
#include <numeric>

#include "data_sets.h"
#include "message_of.h"
#include "weights.h"

namespace linnet::testing {
namespace {

constexpr std::int64_t kSamples = 7;

/// y = 2 a + b and z = a - b, so that nothing can be confused; weights are 1.
Network two_by_two() {
  FunctionalNetwork f;
  const Expression a = f.input("a", {2});
  const Expression b = f.input("b", {2});
  return f.build({{"y", (2 * a + b) | Dense{.units = 1, .name = "y"}},
                  {"z", (a - b) | Dense{.units = 1, .name = "z"}}});
}

Model model_of(const Network& network) { return Model(network, {.device = "cpu", .threads = 1}); }

Tensor rows_from(float first) {
  std::vector<float> values(2 * kSamples);
  std::iota(values.begin(), values.end(), first);
  return records(std::move(values), {2});
}

/// The names of the columns that belong to each input, or output; "-": none.
std::string names_of(const std::vector<const Column*>& columns) {
  std::string names;
  for (const Column* column : columns) names += (column != nullptr ? column->name : "-") + " ";
  return names;
}
std::string inputs(const Dataset& data) {
  return names_of(bind_inputs(two_by_two().definition(), data));
}
std::string targets(const Dataset& data) {
  return names_of(bind_targets(two_by_two().definition(), data));
}

const Tensor kOne(DType::f32, {1, 2});
const Tensor kTarget(DType::f32, {1, 1});

/// A column in memory, given record by record.
class Source final : public RecordSource {
 public:
  explicit Source(Tensor data) : data_(std::move(data)) {}
  std::int64_t size() const override { return data_.shape()[0]; }
  DType dtype() const override { return data_.dtype(); }
  Shape record() const override { return data_.shape().sample(); }
  void read(std::int64_t index, std::span<std::byte> to) const override {
    std::ranges::copy(data_.rows(index, index + 1).bytes(), to.begin());
  }

 private:
  Tensor data_;
};

TEST(BindColumns, ByNameInAnyOrder) {
  EXPECT_EQ(inputs(Dataset({{"a", kOne}, {"b", kOne}})), "a b ");
  EXPECT_EQ(inputs(Dataset({{"b", kOne}, {"a", kOne}})), "a b ");
  EXPECT_EQ(targets(Dataset({{"a", kOne}}, {{"z", kTarget}, {"y", kTarget}})), "y z ");
}

TEST(BindColumns, OneInputOrOutputTakesTheOnlyColumn) {
  FunctionalNetwork f;
  const Network network = f.build({{"y", f.input("a", {2}) | Dense{.units = 1}}});
  const Dataset data({{"image", kOne}}, {{"label", kTarget}});
  EXPECT_EQ(names_of(bind_inputs(network.definition(), data)), "image ");
  EXPECT_EQ(names_of(bind_targets(network.definition(), data)), "label ");
}

/// The last column that is left may be a misspelt one, or another.
TEST(BindColumns, AMisspeltNameIsNotAnother) {
  EXPECT_EQ(message_of([] {
              inputs(Dataset({{"a", kOne}, {"bb", kOne}}));
            }),
            "the network's input 'b' has no column in the data set 'data'; the network takes 'a', "
            "'b', and the data set's inputs are 'a', 'bb'; is 'bb' meant?");
  EXPECT_EQ(message_of([] {
              targets(Dataset({{"a", kOne}}, {{"label", kTarget}, {"z", kTarget}}));
            }),
            "the data set 'data' has targets for 'label', which is not an output of the network; "
            "its outputs are 'y', 'z'");
  FunctionalNetwork f;
  const Expression left = f.input("left", {2});
  const Network network = f.build({{"y", left + f.input("right", {2})}});
  EXPECT_EQ(message_of([&] {
              bind_inputs(network.definition(), Dataset({{"left", kOne}, {"rigth", kOne}}));
            }),
            "the network's input 'right' has no column in the data set 'data'; the network takes "
            "'left', 'right', and the data set's inputs are 'left', 'rigth'; is 'rigth' meant?");
}

TEST(BindColumns, WhatNobodyWantsIsNotRead) {
  EXPECT_EQ(inputs(Dataset({{"c", kOne}, {"b", kOne}, {"a", kOne}, {"d", kOne}})), "a b ");
}

TEST(BindColumns, AnOutputMayBeWithoutTargets) {
  EXPECT_EQ(targets(Dataset({{"a", kOne}}, {{"z", kTarget}})), "- z ");
}

TEST(BindColumns, NamesWhatIsWantedAndWhatIsThere) {
  EXPECT_EQ(message_of([] {
              inputs(Dataset({{"image", kOne}}));
            }),
            "the network's input 'a' has no column in the data set 'data'; the network takes 'a', "
            "'b', and the data set's inputs are 'image'");
  EXPECT_EQ(message_of([] {
              inputs(Dataset({{"a", kOne}, {"c", kOne}, {"d", kOne}}));
            }),
            "the network's input 'b' has no column in the data set 'data'; the network takes 'a', "
            "'b', and the data set's inputs are 'a', 'c', 'd'");
  EXPECT_EQ(message_of([] { inputs(Dataset()); }),
            "the network's input 'a' has no column in the data set 'data'; the network takes 'a', "
            "'b', and the data set's inputs are none");
  // Which of two outputs it is can't be told.
  EXPECT_EQ(
      message_of([] {
        targets(Dataset({{"a", kOne}}, {{"label", kTarget}}));
      }),
      "the data set 'data' has targets for 'label', which is not an output of the network; its "
      "outputs are 'y', 'z'");
  EXPECT_EQ(message_of([] {
              targets(Dataset({{"a", kOne}, {"b", kOne}}));
            }),
            "the data set 'data' has no targets");
}

TEST(BindColumns, PredictionsReadTheRightColumns) {
  Model model = model_of(two_by_two());
  for (const char* name : {"y.weight", "z.weight"}) {
    set_parameter(model, name, {1, 1});
  }
  const Tensor a = rows_from(1);
  const Tensor b = rows_from(100);
  for (const Dataset& data :
       {Dataset({{"a", a}, {"b", b}}), Dataset({{"b", b}, {"a", a}}),
        Dataset({{"a", a}, {.name = "b", .source = std::make_shared<Source>(b)}}),
        Dataset({{.name = "a", .source = std::make_shared<Source>(a)}, {"b", b}}),
        // Bytes for a further input of floats.
        Dataset({{"a", a}, {"b", b.to(DType::u8)}}),
        Dataset({{"a", a.to(DType::u8)},
                 {.name = "b", .source = std::make_shared<Source>(b.to(DType::u8))}})}) {
    const std::vector<Column> all = model.predict_all(data, 3);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].name, "y");
    EXPECT_EQ(all[1].data.shape(), (Shape{kSamples, 1}));
    for (std::size_t i = 0; i < kSamples; ++i) {
      const float x = a.as<float>()[2 * i] + a.as<float>()[2 * i + 1];
      const float w = b.as<float>()[2 * i] + b.as<float>()[2 * i + 1];
      EXPECT_FLOAT_EQ(all[0].data.as<float>()[i], 2 * x + w);
      EXPECT_FLOAT_EQ(all[1].data.as<float>()[i], x - w);
    }
    EXPECT_TRUE(same_bits(model.predict(data, 256), all[0].data));
  }
}

std::vector<float> weights_after(const Dataset& data) {
  Model model = model_of(two_by_two());
  train(model, data, {.epochs = 2, .batch = 3, .optimizer = Adam{.learning_rate = 1e-3}});
  std::vector<float> weights = vector_of(model.parameter("y.weight"));
  const Tensor z = model.parameter("z.weight");
  weights.insert(weights.end(), z.as<float>().begin(), z.as<float>().end());
  return weights;
}

// Neither the order of columns nor where they lie changes a bit.
TEST(BindColumns, TrainingReadsTheRightColumns) {
  const Column a{"a", rows_from(0).reshaped({kSamples, 2})};
  const Column b{"b", rows_from(3)};
  const Column y{"y", records(std::vector<float>(kSamples, 2), {1})};
  const Column z{"z", records(std::vector<float>(kSamples, -1), {1})};
  const std::vector<float> wanted = weights_after(Dataset({a, b}, {y, z}));
  EXPECT_EQ(weights_after(Dataset({b, a}, {z, y})), wanted);
  const auto source = [](const Column& column) {
    return Column{.name = column.name, .source = std::make_shared<Source>(column.data)};
  };
  EXPECT_EQ(weights_after(Dataset({a, source(b)}, {y, source(z)})), wanted);
  // Values (N) are (N, 1).
  const Column flat{"y", y.data.reshaped({kSamples})};
  EXPECT_EQ(weights_after(Dataset({a, b}, {flat, z})), wanted);
  EXPECT_NE(weights_after(Dataset({a, b}, {y})), wanted);
}

TEST(BindColumns, AnOutputWithoutTargetsIsNotTrained) {
  Model model = model_of(two_by_two());
  const std::vector<float> y = vector_of(model.parameter("y.weight"));
  const std::vector<float> z = vector_of(model.parameter("z.weight"));
  const Dataset data({{"a", rows_from(0)}, {"b", rows_from(3)}},
                     {{"z", records(std::vector<float>(kSamples, 1), {1})}});
  const History history = train(model, data, {.epochs = 1, .batch = 4});
  EXPECT_EQ(vector_of(model.parameter("y.weight")), y);
  EXPECT_NE(vector_of(model.parameter("z.weight")), z);
  EXPECT_TRUE(std::isfinite(history.epochs[0].train.loss));
  EXPECT_EQ(model.training_record().loss, "") << "of the first output nothing is known";
}

// The accuracy is that of the first output that learns labels, whichever output it is.
TEST(BindColumns, AccuracyIsOfTheOutputThatIsTrained) {
  FunctionalNetwork f;
  const Expression x = f.input("x", {1});
  const Network network = f.build({{"other", x | Dense{.units = 5, .name = "other"}},
                                   {"class", x | Dense{.units = 2, .name = "class"}}});
  Model model = model_of(network);
  set_parameter(model, "class.weight", {-1, 1});
  set_parameter(model, "class.bias", {0, 0});
  const Dataset data({{"x", records(std::vector<float>{-1, 1, -1, 1}, {1})}},
                     {{"class", Tensor(std::vector<std::int32_t>{0, 1, 0, 0})}});
  EXPECT_EQ(evaluate(model, data).accuracy, 0.75);
}

TEST(BindColumns, LabelsOfUnknownClassesAreChecked) {
  Model model = model_of(Network({2}, {Dense{.units = 3}}));
  const auto refusal = [&](std::vector<std::int32_t> labels) {
    const Dataset data = data_of(rows_from(0).rows(0, std::ssize(labels)), Tensor(labels));
    return message_of([&] { train(model, data); });
  };
  EXPECT_EQ(refusal({0, -1}),
            "row 1 of the targets of 'data' (counted from 0) has the label -1; expected class "
            "indices of at least 0");
  EXPECT_EQ(refusal({0, 3}),
            "the network ends in 3 outputs but the data set 'data' has 4 classes; row 1 of the "
            "targets of 'data' (counted from 0) has the label 3");
  EXPECT_EQ(refusal({0, 2}), "");
}

}  // namespace
}  // namespace linnet::testing
