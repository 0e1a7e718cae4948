// SPDX-License-Identifier: Apache-2.0
#include "model/loss_graph.h"

#include <gtest/gtest.h>

#include "graph/differentiate.h"
#include "loss_cases.h"
#include "op_backends.h"
#include "op_harness.h"
#include "ops/activation/activation.h"
#include "ops/softmax/softmax.h"

// The numbers are PyTorch's (2.15, CPU): the functions of torch.nn.functional that include/linnet/
// loss.h names, on the operands below, and the gradients by x.
namespace linnet::testing {

const std::vector<TestedDevice>& tested_devices() {
  static const std::vector<TestedDevice> devices{tested_cpu()};
  return devices;
}
std::vector<TestedDevice> tested_in(DType half) {
  if (half == DType::f16) return {};
  return {tested_cpus_in_bf16().back()};
}

namespace {

/// On every device; `y_of`: what the network ends in.
void expect(const Case& c, const std::function<Value(Graph&, Value)>& y_of = {}) {
  const bool labels = c.target.size() == 4;
  Graph graph;
  const Value x = graph.add_value("x", f32({4, 3}), Storage::external, 0);
  const Value target =
      graph.add_value("target", labels ? i32({4}) : f32({4, 3}), Storage::external, 1);
  check_loss_options(c.loss, c.options, labels, {3});
  const Value y = y_of ? y_of(graph, x) : x;
  const Value loss = add_loss(graph, c.loss, c.options, y, target);
  const std::vector<Value> wrt{x};
  const Value dx = differentiate(graph, loss, wrt)[0];
  const std::vector<Numbers> got = run(graph, {x, target}, {kX, c.target}, {loss, dx});
  compare_with_reference(graph, {x, target}, {kX, c.target}, {loss, dx});
  EXPECT_NEAR(got[0][0], c.value, 2e-6);
  ASSERT_EQ(got[1].size(), c.gradient.size());
  for (std::size_t i = 0; i < c.gradient.size(); ++i) {
    EXPECT_NEAR(got[1][i], c.gradient[i], 1e-6) << "element " << i;
  }
}

const Case kCrossEntropy{Loss::cross_entropy,
                         {},
                         kLabels,
                         1.826648,
                         {-0.09906277, 0.007514722, 0.09154806, 0.01165316, 0.2340599, -0.245713,
                          0.1231407, -0.1268593, 0.003718527, -0.2170996, 0.06965017, 0.1474494}};
const Case kSmoothed{Loss::cross_entropy,
                     {.label_smoothing = 0.1},
                     kLabels,
                     1.824564,
                     {-0.0823961, -0.0008186121, 0.08321472, 0.003319822, 0.2257265, -0.2290464,
                      0.1148074, -0.1101926, -0.004614807, -0.2004329, 0.06131683, 0.1391161}};

TEST(LossGraph, CrossEntropyOfLabels) {
  expect(kCrossEntropy);
  expect(kSmoothed);
  expect({Loss::cross_entropy,
          {.class_weights = kWeights},
          kLabels,
          1.329285,
          {-0.0880558, 0.006679753, 0.08137605, 0.00517918, 0.1040266, -0.1092058, 0.2189168,
           -0.2255276, 0.006610715, -0.1929774, 0.06191126, 0.1310662}});
  expect({Loss::cross_entropy,
          {.label_smoothing = 0.1, .class_weights = kWeights},
          kLabels,
          1.361712,
          {-0.07100488, -0.008023734, 0.07902861, -0.00153767, 0.103082, -0.1015443, 0.2023879,
           -0.2050195, 0.002631565, -0.1776752, 0.04812829, 0.1295469}});
}

TEST(LossGraph, IgnoredLabelsCountForNothing) {
  const Numbers gradient{0,         0,          0,           0.02330631, 0.4681198, -0.4914261,
                         0.2462815, -0.2537186, 0.007437055, 0,          0,         0};
  expect({Loss::cross_entropy, {.ignore_index = 0}, kLabels, 2.387009, gradient});
  expect({Loss::cross_entropy, {.ignore_index = -100}, {-100, 2, 1, -100}, 2.387009, gradient});
  expect({Loss::cross_entropy,
          {.label_smoothing = 0.2, .class_weights = kWeights, .ignore_index = 2},
          kLabels,
          1.074642,
          {-0.0606982, -0.02556812, 0.08626632, 0, 0, 0, 0.2090913, -0.2075753, -0.001516034,
           -0.1826696, 0.0386385, 0.1440311}});
  expect({Loss::cross_entropy, {.ignore_index = 7}, {7, 7, 7, 7}, 0, Numbers(12)});
}

TEST(LossGraph, CrossEntropyOfShares) {
  expect({Loss::cross_entropy,
          {},
          kShares,
          0.8891473,
          {-0.02406277, -0.04248528, 0.06654806, 0.01165316, -0.01594011, 0.004286956, -0.00185927,
           0.06064073, -0.05878147, 0.007900411, 0.04465017, -0.05255058}});
  expect({Loss::cross_entropy,
          {.label_smoothing = 0.1, .class_weights = kWeights},
          kShares,
          1.050203,
          {0.007996033, -0.09801221, 0.09001617, 0.01400188, -0.0180519, 0.004049998, 0.01821307,
           0.009879737, -0.02809283, -0.006267693, -0.00966121, 0.0159289}});
}

TEST(LossGraph, NetworksMayEndInProbabilities) {
  const auto softmax = [](Graph& graph, Value x) { return graph.emit(SoftmaxOp(), {x}, "p"); };
  const auto log_softmax = [](Graph& graph, Value x) {
    return graph.emit(LogSoftmaxOp(), {x}, "p");
  };
  for (const Case& c : {kCrossEntropy, kSmoothed}) {
    expect(c, softmax);
    expect(c, log_softmax);
  }
}

TEST(LossGraph, KlDivergence) {
  expect({Loss::kl_divergence,
          {},
          kShares,
          0.2690046,
          {-0.02406277, -0.04248528, 0.06654806, 0.01165316, -0.01594011, 0.004286956, -0.00185927,
           0.06064073, -0.05878147, 0.007900411, 0.04465017, -0.05255058}});
}

TEST(LossGraph, Hinge) {
  const double d = 1.0 / 12;
  expect({Loss::hinge, {}, kLabels, 1.0625, {-d, 0, d, d, d, -2 * d, d, -d, 0, -2 * d, d, d}});
  expect({Loss::hinge, {}, signs(kAnswers), 1.1875, {0, 0, -d, d, 0, 0, d, d, -d, -d, -d, d}});
}

TEST(LossGraph, Huber) {
  const double d = 1.0 / 12;
  expect({Loss::huber, {}, kValues, 1.114583, {d, -d, -d, -d, d, -d, d, d, -d, -d / 2, -d, 0}});
  const double e = d / 2;
  expect({Loss::huber,
          {.huber_delta = 0.5},
          kValues,
          0.6666667,
          {e, -e, -e, -e, e, -e, e, e, -e, -e, -e, 0}});
}

TEST(LossGraph, Minkowski) {
  expect({Loss::minkowski,
          {},
          kValues,
          2.256843,
          {0.125, -0.125, -0.1530931, -0.125, 0.1767767, -0.1767767, 0.25, 0.1530931, -0.1530931,
           -0.08838835, -0.207289, 0}});
}

// PyTorch has no such loss: by hand.
TEST(LossGraph, Quantile) {
  expect({Loss::quantile,
          {.quantile = 0.9},
          kValues,
          0.8395833,
          {0.008333333, -0.075, -0.075, -0.075, 0.008333333, -0.075, 0.008333333, 0.008333333,
           -0.075, -0.075, -0.075, 0}});
}

TEST(LossGraph, Cosine) {
  expect({Loss::cosine,
          {},
          kValues,
          0.7551996,
          {0.02788286, -0.006970707, -0.08364858, -0.04564355, -0.01825742, -0.05477225, 0.05358309,
           -0.04111116, 0.01662923, -0.04600437, -0.1840175, 0.02300218}});
}

const Case kBinary{Loss::binary_cross_entropy,
                   {},
                   kAnswers,
                   0.8989843,
                   {-0.02241178, 0.009933577, -0.03146172, 0.04166667, -0.003952155, 0.02241179,
                    0.07339975, 0.07339975, -0.06813121, -0.05187161, -0.03648529, 0.06092155}};
const Case kBinaryWeighted{Loss::binary_cross_entropy,
                           {.class_weights = kWeights, .positive_weights = kPositive},
                           kAnswers,
                           1.149666,
                           {-0.06723535, 0.01986715, -0.00786543, 0.04166667, -0.007904311,
                            0.01120589, 0.07339975, 0.1467995, -0.0170328, -0.1556148, -0.07297058,
                            0.03046077}};

TEST(LossGraph, BinaryCrossEntropy) {
  expect(kBinary);
  expect(kBinaryWeighted);
  expect({Loss::binary_cross_entropy,
          {.positive_weights = kPositive},
          kAnswers,
          1.022895,
          {-0.06723535, 0.009933577, -0.01573086, 0.04166667, -0.003952155, 0.02241179, 0.07339975,
           0.07339975, -0.0340656, -0.1556148, -0.03648529, 0.06092155}});
  expect({Loss::binary_cross_entropy,
          {.label_smoothing = 0.2},
          kAnswers,
          0.9052342,
          {-0.01407845, 0.001600243, -0.02312839, 0.03333334, 0.004381175, 0.01407845, 0.06506642,
           0.06506642, -0.05979787, -0.04353828, -0.02815196, 0.05258821}});
}

TEST(LossGraph, NetworksMayEndInSigmoid) {
  const auto sigmoid = [](Graph& graph, Value x) {
    return graph.emit(ActivationOp({Activation::sigmoid}), {x}, "p");
  };
  expect(kBinary, sigmoid);
  expect(kBinaryWeighted, sigmoid);
}

TEST(LossGraph, OutputsOfValuesHaveWeights) {
  // mean(w * f(x - t)) of PyTorch 2.15.
  expect({Loss::mse,
          {.class_weights = kWeights},
          kValues,
          4.34375,
          {0.1666667, -0.3333333, -0.125, -0.1666667, 0.6666667, -0.1666667, 0.6666667, 0.5, -0.125,
           -0.08333333, -0.9166667, 0}});
  expect({Loss::mae,
          {.class_weights = kWeights},
          kValues,
          1.958333,
          {0.08333333, -0.1666667, -0.04166667, -0.08333333, 0.1666667, -0.04166667, 0.08333333,
           0.1666667, -0.04166667, -0.08333333, -0.1666667, 0}});
}

TEST(LossGraph, Focal) {
  expect({Loss::focal,
          {},
          kAnswers,
          0.2982239,
          {-0.00109544, 0.0003044338, -0.002873687, 0.01864292, -6.559829e-06, 0.003286321,
           0.06729461, 0.06729461, -0.02002968, -0.0109615, -0.004334508, 0.04801467}});
  expect({Loss::focal,
          {.focal_gamma = 1.5, .focal_alpha = -1},
          kAnswers,
          0.5573664,
          {-0.007118414, 0.0009839642, -0.01585529, 0.03004792, -0.0001005708, 0.007118416,
           0.08687253, 0.08687253, -0.07904711, -0.04804924, -0.02229466, 0.06567627}});
  expect({Loss::focal,
          {},
          kLabels,
          1.429633,
          {-0.03947162, 0.002994245, 0.03647737, 0.01285401, 0.2581796, -0.2710336, 0.07529817,
           -0.07757198, 0.002273807, -0.2643493, 0.08480887, 0.1795404}});
  expect({Loss::focal,
          {.class_weights = kWeights},
          kLabels,
          0.8749009,
          {-0.03508588, 0.002661551, 0.03242433, 0.005712891, 0.1147465, -0.1204594, 0.1338634,
           -0.1379057, 0.004042324, -0.2349771, 0.07538567, 0.1595915}});
}

TEST(LossGraph, PenaltiesAreOfWeightsNotOfBiases) {
  Graph graph;
  const Value w = graph.add_value("w", f32({2, 2}), Storage::external, 0);
  const Value b = graph.add_value("b", f32({2}), Storage::external, 1);
  const std::vector<Value> weights{w, b};
  const Value loss = add_penalties(graph, 0.5, 0.25, weights);
  const Value dw = differentiate(graph, loss, weights)[0];
  const std::vector<Numbers> data{{1, -2, 0, 4}, {100, 100}};
  const std::vector<Numbers> got = run(graph, {w, b}, data, {loss, dw});
  EXPECT_NEAR(got[0][0], 0.5 * 7 + 0.25 * 21, 1e-6);
  EXPECT_EQ(got[1], (Numbers{0.5 + 0.5, -0.5 - 1, 0, 0.5 + 2}));
}

}  // namespace
}  // namespace linnet::testing
