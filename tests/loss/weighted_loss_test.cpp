// SPDX-License-Identifier: Apache-2.0
// Losses of samples and steps that have weights. The numbers are PyTorch's (2.15, CPU, float64):
// sum(w * loss) / sum(w) of the functions of torch.nn.functional with reduction="none", with class
// weights sum(w * c[label]) below, and the gradients by x.
#include <gtest/gtest.h>

#include "graph/differentiate.h"
#include "loss_cases.h"
#include "model/custom_loss.h"
#include "model/loss_graph.h"
#include "model/loss_weights.h"
#include "op_harness.h"

namespace linnet::testing {
namespace {

const Numbers kWeighed{1, 0.5, 0, 3};  // the samples, or two steps of two samples

/// A graph with outputs x, targets and weights, and the result of `loss_of` for them.
void expect(const Shape& shape, const ValueType& target_type, const Shape& weights_shape,
            const Numbers& weights, const Numbers& targets, double value, const Numbers& gradient,
            const std::function<Value(Graph&, Value, Value, Value)>& loss_of) {
  Graph graph;
  const Value x = graph.add_value("x", f32(shape), Storage::external, 0);
  const Value t = graph.add_value("target", target_type, Storage::external, 1);
  const Value w = graph.add_value("weights", f32(weights_shape), Storage::external, 2);
  const Value loss = loss_of(graph, x, t, w);
  const std::vector<Value> wrt{x};
  const Value dx = differentiate(graph, loss, wrt)[0];
  const std::vector<Numbers> got = run(graph, {x, t, w}, {kX, targets, weights}, {loss, dx});
  compare_with_reference(graph, {x, t, w}, {kX, targets, weights}, {loss, dx});
  EXPECT_NEAR(got[0][0], value, 3e-6);
  ASSERT_EQ(got[1].size(), gradient.size());
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    EXPECT_NEAR(got[1][i], gradient[i], 1e-6) << "element " << i;
  }
}

/// x is (4, 3), or 2 samples of 2 steps, (2, 2, 3).
void expect(const Case& c, bool steps = false) {
  const bool labels = c.target.size() == 4;
  const Shape shape = steps ? Shape{2, 2, 3} : Shape{4, 3};
  check_loss_options(c.loss, c.options, labels, shape.sample());
  const auto loss_of = [&](Graph& graph, Value x, Value t, Value w) {
    return add_loss(graph, c.loss, c.options, x, t, w);
  };
  const Shape weights = steps ? Shape{2, 2} : Shape{4};
  const ValueType target = labels ? i32({4}) : f32(shape);
  expect(shape, target, weights, kWeighed, c.target, c.value, c.gradient, loss_of);
  expect(shape, target, weights, Numbers(4), c.target, 0, Numbers(12), loss_of);
}

TEST(WeightedLoss, CrossEntropy) {
  expect({Loss::cross_entropy,
          {},
          kLabels,
          1.915881,
          {-0.0880558, 0.006679753, 0.08137605, 0.00517918, 0.1040266, -0.1092058, 0, 0, 0,
           -0.5789322, 0.1857338, 0.3931984}});
  expect({Loss::cross_entropy,
          {.label_smoothing = 0.1},
          kLabels,
          1.873289,
          {-0.07324099, -0.0007276546, 0.07396864, 0.001475477, 0.1003229, -0.1017984, 0, 0, 0,
           -0.5344878, 0.1635116, 0.3709762}});
  expect({Loss::cross_entropy,
          {.class_weights = kWeights},
          kLabels,
          1.789411,
          {-0.09323555, 0.007072679, 0.08616287, 0.002741919, 0.05507291, -0.05781483, 0, 0, 0,
           -0.6129871, 0.1966593, 0.4163278}});
  expect(
      {Loss::cross_entropy,
       {.label_smoothing = 0.2, .class_weights = kWeights, .ignore_index = 2},
       kLabels,
       1.693702,
       {-0.0606982, -0.02556812, 0.08626632, 0, 0, 0, 0, 0, 0, -0.5480087, 0.1159155, 0.4320932}});
  expect({Loss::cross_entropy,
          {},
          kShares,
          0.7658814,
          {-0.02138913, -0.03776469, 0.05915383, 0.00517918, -0.007084494, 0.001905314, 0, 0, 0,
           0.02106776, 0.1190671, -0.1401349}});
  expect({Loss::cross_entropy,
          {.label_smoothing = 0.1, .class_weights = kWeights},
          kShares,
          0.9624663,
          {0.007107588, -0.08712197, 0.08001438, 0.006223059, -0.008023058, 0.0018, 0, 0, 0,
           -0.01671385, -0.02576321, 0.04247706}});
}

TEST(WeightedLoss, KlDivergence) {
  expect({Loss::kl_divergence,
          {},
          kShares,
          0.1616782,
          {-0.02138913, -0.03776469, 0.05915383, 0.00517918, -0.007084494, 0.001905314, 0, 0, 0,
           0.02106776, 0.1190671, -0.1401349}});
}

TEST(WeightedLoss, Hinge) {
  expect({Loss::hinge,
          {},
          kLabels,
          1.240741,
          {-0.07407407, 0, 0.07407407, 0.03703704, 0.03703704, -0.07407407, 0, 0, 0, -0.4444444,
           0.2222222, 0.2222222}});
  expect({Loss::hinge,
          {},
          signs(kAnswers),
          1.018519,
          {0, 0, -0.07407407, 0.03703704, 0, 0, 0, 0, 0, -0.2222222, -0.2222222, 0.2222222}});
}

TEST(WeightedLoss, RegressionLosses) {
  expect({Loss::mse,
          {},
          kValues,
          2.384259,
          {0.1481481, -0.1481481, -0.2222222, -0.07407407, 0.1481481, -0.1481481, 0, 0, 0,
           -0.2222222, -1.222222, 0}});
  expect({Loss::mae,
          {},
          kValues,
          1.166667,
          {0.07407407, -0.07407407, -0.07407407, -0.03703704, 0.03703704, -0.03703704, 0, 0, 0,
           -0.2222222, -0.2222222, 0}});
  expect({Loss::mse,
          {.class_weights = kWeights},
          kValues,
          4.12963,
          {0.1481481, -0.2962963, -0.1111111, -0.07407407, 0.2962963, -0.07407407, 0, 0, 0,
           -0.2222222, -2.444444, 0}});
  expect({Loss::mae,
          {.class_weights = kWeights},
          kValues,
          1.833333,
          {0.07407407, -0.1481481, -0.03703704, -0.03703704, 0.07407407, -0.01851852, 0, 0, 0,
           -0.2222222, -0.4444444, 0}});
  expect({Loss::huber,
          {},
          kValues,
          0.8055556,
          {0.07407407, -0.07407407, -0.07407407, -0.03703704, 0.03703704, -0.03703704, 0, 0, 0,
           -0.1111111, -0.2222222, 0}});
  expect({Loss::huber,
          {.huber_delta = 0.5},
          kValues,
          0.4861111,
          {0.03703704, -0.03703704, -0.03703704, -0.01851852, 0.01851852, -0.01851852, 0, 0, 0,
           -0.1111111, -0.1111111, 0}});
}

TEST(WeightedLoss, Cosine) {
  expect({Loss::cosine,
          {},
          kValues,
          0.5072774,
          {0.02478476, -0.006196191, -0.07435429, -0.02028602, -0.008114408, -0.02434322, 0, 0, 0,
           -0.1226783, -0.4907133, 0.06133916}});
}

TEST(WeightedLoss, BinaryCrossEntropy) {
  expect({Loss::binary_cross_entropy,
          {},
          kAnswers,
          0.7430814,
          {-0.01992159, 0.008829846, -0.02796598, 0.01851852, -0.001756514, 0.009960793, 0, 0, 0,
           -0.1383243, -0.09729411, 0.1624575}});
  expect({Loss::binary_cross_entropy,
          {.class_weights = kWeights, .positive_weights = kPositive},
          kAnswers,
          1.183545,
          {-0.05976476, 0.01765969, -0.006991494, 0.01851852, -0.003513028, 0.004980397, 0, 0, 0,
           -0.4149729, -0.1945882, 0.08122873}});
  expect({Loss::binary_cross_entropy,
          {.label_smoothing = 0.2},
          kAnswers,
          0.7560444,
          {-0.01251418, 0.001422439, -0.02055857, 0.01481481, 0.00194719, 0.00625709, 0, 0, 0,
           -0.1161021, -0.07507189, 0.1402352}});
}

TEST(WeightedLoss, Focal) {
  expect({Loss::focal,
          {},
          kLabels,
          1.473563,
          {-0.03508589, 0.002661551, 0.03242433, 0.005712892, 0.1147465, -0.1204594, 0, 0, 0,
           -0.7049314, 0.226157, 0.4787744}});
  expect({Loss::focal,
          {},
          kAnswers,
          0.1512939,
          {-0.0009737246, 0.0002706078, -0.002554389, 0.008285744, -2.91548e-06, 0.001460587, 0, 0,
           0, -0.02923066, -0.01155869, 0.1280391}});
}

TEST(WeightedLoss, OfSteps) {
  expect({Loss::mse,
          {},
          kValues,
          2.384259,
          {0.1481481, -0.1481481, -0.2222222, -0.07407407, 0.1481481, -0.1481481, 0, 0, 0,
           -0.2222222, -1.222222, 0}},
         true);
  expect({Loss::cross_entropy,
          {},
          kShares,
          0.7658814,
          {-0.02138913, -0.03776469, 0.05915383, 0.00517918, -0.007084494, 0.001905314, 0, 0, 0,
           0.02106776, 0.1190671, -0.1401349}},
         true);
  expect({Loss::cosine,
          {},
          kValues,
          0.5072774,
          {0.02478476, -0.006196191, -0.07435429, -0.02028602, -0.008114408, -0.02434322, 0, 0, 0,
           -0.1226783, -0.4907133, 0.06133916}},
         true);
  expect({Loss::kl_divergence,
          {},
          kShares,
          0.1616782,
          {-0.02138913, -0.03776469, 0.05915383, 0.00517918, -0.007084494, 0.001905314, 0, 0, 0,
           0.02106776, 0.1190671, -0.1401349}},
         true);
}

TEST(WeightedLoss, OnesAreTheMean) {
  for (const Loss loss : {Loss::cross_entropy, Loss::mse, Loss::mae, Loss::binary_cross_entropy,
                          Loss::huber, Loss::minkowski, Loss::quantile, Loss::kl_divergence,
                          Loss::hinge, Loss::cosine, Loss::focal}) {
    Graph graph;
    const Value x = graph.add_value("x", f32({4, 3}), Storage::external, 0);
    const Value t = graph.add_value("target", f32({4, 3}), Storage::external, 1);
    const Value w = graph.add_value("weights", f32({4}), Storage::external, 2);
    const std::vector<Value> losses{add_loss(graph, loss, {}, x, t, w),
                                    add_loss(graph, loss, {}, x, t)};
    const auto got = run(graph, {x, t, w}, {kX, kShares, Numbers(4, 1.0)}, losses);
    EXPECT_NEAR(got[0][0], got[1][0], 2e-6) << static_cast<int>(loss);
  }
}

/// mse by hand, a number for each element or one for each sample.
TEST(WeightedLoss, OfOnesOwn) {
  const Numbers gradient{0.1481481, -0.1481481, -0.2222222, -0.07407407, 0.1481481, -0.1481481,
                         0,         0,          0,          -0.2222222,  -1.222222, 0};
  const CustomLoss each = [](const Expression& y, const Expression& t) { return square(y - t); };
  const CustomLoss means = [](const Expression& y, const Expression& t) {
    return mean(square(y - t));
  };
  for (const CustomLoss& loss : {each, means}) {
    const auto loss_of = [&](Graph& graph, Value x, Value t, Value w) {
      return add_custom_loss(graph, loss, x, t, w, {});
    };
    expect({4, 3}, f32({4, 3}), {4}, kWeighed, kValues, 2.384259, gradient, loss_of);
  }
}

TEST(WeightedLoss, ASampleWithoutWeightMayBeInfinite) {
  Graph graph;
  const Value x = graph.add_value("x", f32({2, 1}), Storage::external, 0);
  const Value w = graph.add_value("weights", f32({2}), Storage::external, 1);
  const Value loss = weighted_mean(graph, x, shares_of(graph, w));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(run(graph, {x, w}, {{infinity, 3}, {0, 2}}, {loss})[0][0], 3);
}

TEST(WeightedLoss, StepsBehindTheEndCountNothing) {
  Graph graph;
  const Value lengths = graph.add_value("lengths", i32({2}), Storage::external, 0);
  const Value w = graph.add_value("weights", f32({2}), Storage::external, 1);
  const Value v = graph.add_value("of steps", f32({2, 3}), Storage::external, 2);
  const std::vector<Value> weights{step_weights(graph, lengths, 3),
                                   step_weights(graph, lengths, 3, w),
                                   step_weights(graph, lengths, 3, v)};
  const auto got = run(graph, {lengths, w, v}, {{2, 0}, {0.5, 7}, {1, 2, 3, 4, 5, 6}}, weights);
  EXPECT_EQ(got[0], (Numbers{1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(got[1], (Numbers{0.5, 0.5, 0, 0, 0, 0}));
  EXPECT_EQ(got[2], (Numbers{1, 2, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace linnet::testing
