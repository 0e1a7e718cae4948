// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "onnx/byte_models.h"

namespace linnet {
namespace {

using B = testing::OnnxBytes;
using testing::floats;

/// A loss of scores "x" (N, 3) by labels "t" (N), which weighs classes by 1, 2 and 4.
B loss(const std::string& op, std::vector<std::string> attributes) {
  B model;
  model.dims = {0, 3};
  model.more_inputs = {B::value("t", {0}, 7)};
  const std::vector<float> weights{1, 2, 4};
  model.initializers = {
      B::tensor("w", {3}, 1,
                {reinterpret_cast<const char*>(weights.data()), weights.size() * sizeof(float)})};
  attributes.push_back(B::text("reduction", "none"));
  model.nodes = {B::node(op, {"x", "t", "w"}, {"y"}, "loss", attributes)};
  model.outputs = {B::value("y", {0})};
  return model;
}

Tensor labels(std::vector<std::int32_t> values) {
  const Shape shape{static_cast<std::int64_t>(values.size())};
  return {std::move(values), shape};
}

TEST(OnnxLosses, a_likelihood_is_picked_weighed_and_negated) {
  Model model = testing::imported(loss("NegativeLogLikelihoodLoss", {}));
  const Tensor scores = floats({-1, -2, -3, -4, -5, -6}, {2, 3});
  testing::expect_near(model.predict(Dataset({{"x", scores}, {"t", labels({2, 0})}}, {})),
                       floats({12, 4}, {2, 1}), 1e-6F);
}

TEST(OnnxLosses, labels_to_be_ignored_need_not_be_classes_nor_have_finite_scores) {
  Model model =
      testing::imported(loss("NegativeLogLikelihoodLoss", {B::integer("ignore_index", -5)}));
  const Tensor scores = floats({-INFINITY, -2, -3, -4, -5, -6}, {2, 3});
  testing::expect_near(model.predict(Dataset({{"x", scores}, {"t", floats({-5, 1}, {2})}}, {})),
                       floats({0, 10}, {2, 1}), 1e-6F);
}

TEST(OnnxLosses, scores_of_a_softmax_are_its_logarithms) {
  Model model = testing::imported(loss("SoftmaxCrossEntropyLoss", {}));
  const Tensor scores = floats({0, 0, 0, 1, 2, 3}, {2, 3});
  const double sum = std::exp(1) + std::exp(2) + std::exp(3);
  testing::expect_near(model.predict(Dataset({{"x", scores}, {"t", labels({1, 2})}}, {})),
                       floats({static_cast<float>(2 * std::log(3)),
                               static_cast<float>(4 * (std::log(sum) - 3))},
                              {2, 1}),
                       1e-5F);
}

TEST(OnnxLosses, need_a_weight_for_each_class) {
  for (const auto& [op, scores] :
       {std::pair{"SoftmaxCrossEntropyLoss", 4}, std::pair{"NegativeLogLikelihoodLoss", 2}}) {
    B model = loss(op, {});
    model.dims = {0, scores};
    EXPECT_NE(testing::refusal(model).find(
                  fmt::format("[{} 'loss'] expected a weight for each of {} classes; got weights "
                              "(3)",
                              op, scores)),
              std::string::npos)
        << testing::refusal(model);
  }
}

TEST(OnnxTables, of_no_rows_take_no_id) {
  B model;
  model.type = 7;
  model.initializers = {B::floats("w", {0, 3}, {})};
  model.nodes = {B::node("Gather", {"w", "x"}, {"y"}, "words")};
  EXPECT_NE(testing::refusal(model).find("the table 'w' of (0, 3) has no rows: no id fits"),
            std::string::npos)
      << testing::refusal(model);
}

TEST(OnnxLosses, name_what_they_do_not_take) {
  B old = loss("SoftmaxCrossEntropyLoss", {});
  old.opset = 12;
  EXPECT_NE(testing::refusal(old).find(
                "[SoftmaxCrossEntropyLoss 'loss'] expected a model of opset 13 or later; got 12"),
            std::string::npos);
  B product = loss("NegativeLogLikelihoodLoss", {B::text("reduction", "product")});
  EXPECT_NE(testing::refusal(product).find("expected the reduction none, sum or mean; got 'prod"),
            std::string::npos);
  B alone = loss("NegativeLogLikelihoodLoss", {});
  alone.nodes = {B::node("NegativeLogLikelihoodLoss", {"x"}, {"y"}, "loss")};
  EXPECT_NE(testing::refusal(alone).find(
                "expected 2 or 3 inputs and at most 1 outputs; got 1 and 1"),
            std::string::npos);
}

}  // namespace
}  // namespace linnet
