// SPDX-License-Identifier: Apache-2.0
// A sample's prediction has the same bits alone, and at any place of any batch.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <linnet/layers.h>
#include <linnet/model.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "weights.h"

namespace linnet::testing {
namespace {

constexpr std::int64_t kRows = 40;

/// A network that is tested, at a precision.
struct RowsCase {
  std::string name;
  Shape sample;
  std::vector<Layer> layers;
  Precision precision = Precision::fp32;
};

/// Numbers about 0, of which no two rows are alike.
std::vector<float> numbers(std::int64_t count, double step) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(std::sin(step * static_cast<double>(i + 1)));
  }
  return values;
}

/// Weights and biases that differ, so that no term of a sum is zero.
void fill_weights(Model& model) {
  for (const std::string& name : model.parameter_names()) {
    const std::int64_t count = model.parameter_shape(name).elements();
    if (name.find("running_var") != std::string::npos) continue;
    set_parameter(model, name, numbers(count, 0.7309));
  }
}

/// The bits of each row's outputs, for rows [first, first + count) predicted at once.
std::vector<float> outputs(Model& model, const RowsCase& of, const std::vector<float>& x,
                           std::int64_t first, std::int64_t count) {
  const auto size = of.sample.elements();
  std::vector<float> rows(x.begin() + first * size, x.begin() + (first + count) * size);
  return vector_of(model.predict(Tensor(std::move(rows), of.sample.batched(count)), count));
}

bool same_bits(const float* a, const float* b, std::size_t count) {
  return std::memcmp(a, b, count * sizeof(float)) == 0;
}

/// Predicts all batches of 1 to kRows rows on the instruction set that is chosen.
void check_rows(const RowsCase& of, const std::string& target) {
  Model model(Network(of.sample, of.layers),
              {.device = "cpu", .threads = 1, .seed = 1, .precision = of.precision});
  fill_weights(model);
  const std::vector<float> x = numbers(kRows * of.sample.elements(), 1.2345);
  std::vector<float> alone;
  for (std::int64_t i = 0; i < kRows; ++i) {
    const std::vector<float> row = outputs(model, of, x, i, 1);
    alone.insert(alone.end(), row.begin(), row.end());
  }
  const std::size_t width = alone.size() / kRows;
  std::string wrong;
  for (std::int64_t count = 2; count <= kRows; ++count) {
    const std::vector<float> batch = outputs(model, of, x, 0, count);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      if (!same_bits(&batch[i * width], &alone[i * width], width)) {
        wrong += fmt::format(" {}/{}", i, count);
      }
    }
  }
  EXPECT_EQ(wrong.substr(0, 60), "") << target << ": rows of batches that are not the row alone";
}

class Rows : public ::testing::TestWithParam<RowsCase> {
 protected:
  ~Rows() override { hwy::SetSupportedTargetsForTest(0); }
};

TEST_P(Rows, AreTheSameBitsAloneAndInEveryBatch) {
  // A processor that has a set has those below it, which are higher bits.
  for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    hwy::SetSupportedTargetsForTest(left);
    check_rows(GetParam(), hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(0);
  }
}

/// Dense layers of sizes that leave a rest of every vector and tile, with what may follow them.
std::vector<RowsCase> cases() {
  std::vector<RowsCase> all;
  const auto add = [&](const std::string& name, const Shape& sample,
                       const std::vector<Layer>& layers) {
    all.push_back({name, sample, layers, Precision::fp32});
    all.push_back({name + "Bf16", sample, layers, Precision::bf16});
  };
  for (const std::int64_t units : {5, 33, 40, 64, 100}) {
    for (const std::int64_t features : {13, 64, 500}) {
      add(fmt::format("Dense{}To{}", features, units), {features}, {Dense{.units = units}});
    }
  }
  add("DenseNoBias", {70}, {Dense{.units = 50, .bias = false}});
  add("DenseTanh", {70}, {Dense{.units = 50}, Tanh{}});
  add("DenseRelu", {70}, {Dense{.units = 50}, ReLU{}, Dense{.units = 40}, Sigmoid{}});
  add("DenseOfSteps", {7, 30}, {Dense{.units = 50}, ReLU{}});
  add("Conv1x1", {5, 5, 8}, {Conv2d{.filters = 12, .kernel = 1}, ReLU{}});
  add("Conv1x1Wide", {3, 3, 40}, {Conv2d{.filters = 50, .kernel = 1}, BatchNorm{}, ReLU{}});
  add("GRU", {6, 10}, {GRU{.units = 20}});
  add("LSTM", {6, 10}, {LSTM{.units = 20}});
  add("LSTMWide", {3, 33}, {LSTM{.units = 70}});
  // So large that the tasks of a few rows share each step.
  add("RNNOfSharedSteps", {3, 5}, {SimpleRNN{.units = 300}});
  add("GRUOfSharedSteps", {3, 5}, {GRU{.units = 150, .return_sequences = true, .reverse = true}});
  add("LSTMOfSharedSteps", {140, 5}, {LSTM{.units = 135}});
  add("Attention", {6, 36}, {MultiHeadAttention{.heads = 3}});
  add("Encoder", {6, 36}, {TransformerEncoderLayer{.heads = 4, .feed_forward = 50}});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Networks, Rows, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace linnet::testing
