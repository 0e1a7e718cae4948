// SPDX-License-Identifier: Apache-2.0
// The loss of an evaluation is that of the whole set, whatever the batch: for every loss and every
// option that lets samples or labels count differently, against the same sum in double precision.
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "data_sets.h"

namespace linnet::testing {
namespace {

constexpr std::size_t kClasses = 4;
constexpr std::int64_t kSamples = 23;
constexpr std::int64_t kSteps = 5;
constexpr std::size_t kRows = kSamples * kSteps;

using Row = std::span<const float>;

enum class Targets : std::uint8_t { labels, shares, values, answers };
enum class Weights : std::uint8_t { none, samples, steps };

float noise(std::size_t i) { return std::sin(static_cast<float>(37 * i + 11) * 1.7F); }

std::vector<std::int32_t> labels() {
  std::vector<std::int32_t> all(kRows);
  // The last classes are rare, and whole batches have the first alone.
  for (std::size_t i = 0; i < kRows; ++i) {
    all[i] = i < kRows / 2 ? 0 : static_cast<std::int32_t>(i * i % kClasses + i % 3) % 4;
  }
  return all;
}

std::vector<float> values(Targets kind) {
  std::vector<float> all(kRows * kClasses);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = kind == Targets::answers ? static_cast<float>(i * i % 3 == 1) : 2 * noise(i + 5);
  }
  if (kind != Targets::shares) return all;
  for (std::size_t row = 0; row < kRows; ++row) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(row * kClasses);
    std::transform(begin, begin + kClasses, begin, [](float x) { return std::abs(x) + 0.01F; });
    const float sum = std::accumulate(begin, begin + kClasses, 0.0F);
    std::transform(begin, begin + kClasses, begin, [sum](float x) { return x / sum; });
  }
  return all;
}

std::vector<float> weights(Weights kind) {
  std::vector<float> all(kind == Weights::samples ? kSamples : kRows);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = i < 5 ? 0.0F : static_cast<float>(i % 7) + 0.25F;
  }
  return all;
}

struct Case {
  std::string name;
  Loss loss = Loss::mse;
  Targets targets = Targets::labels;
  LossOptions options = {};
};

std::vector<double> log_softmax(Row y) {
  double sum = 0;
  for (const float x : y) sum += std::exp(double{x});
  std::vector<double> all;
  for (const float x : y) all.push_back(x - std::log(sum));
  return all;
}

/// What a row adds to the loss before weights, and what it counts by itself.
struct Term {
  double loss = 0;
  double count = 1;
};

Term term_of_label(const Case& c, Row y, std::size_t label) {
  const auto weight = [&](std::size_t i) {
    return c.options.class_weights.empty() ? 1 : c.options.class_weights[i];
  };
  if (c.options.ignore_index == static_cast<std::int32_t>(label)) return {0, 0};
  const std::vector<double> log_p = log_softmax(y);
  double loss = 0;
  if (c.loss == Loss::cross_entropy) {
    const double s = c.options.label_smoothing;
    for (std::size_t i = 0; i < kClasses; ++i) {
      const double share = (i == label ? 1 - s : 0) + s / static_cast<double>(kClasses);
      loss -= weight(i) * share * log_p[i];
    }
  } else if (c.loss == Loss::focal) {
    const double p = std::exp(log_p[label]);
    loss = -weight(label) * std::pow(1 - p, c.options.focal_gamma) * log_p[label];
  } else {  // hinge
    for (std::size_t i = 0; i < kClasses; ++i) {
      if (i == label) continue;
      loss += weight(label) * std::max(0.0, 1.0 - y[label] + y[i]) / static_cast<double>(kClasses);
    }
  }
  return {loss, weight(label)};
}

Term term_of_values(const Case& c, Row y, Row t) {
  const auto weight = [&](std::size_t i) {
    return c.options.class_weights.empty() ? 1 : c.options.class_weights[i];
  };
  const auto mean = [](const std::function<double(std::size_t)>& of) {
    double sum = 0;
    for (std::size_t i = 0; i < kClasses; ++i) sum += of(i);
    return Term{.loss = sum / static_cast<double>(kClasses)};
  };
  const auto total = [&](const std::function<double(std::size_t)>& of) {
    return Term{.loss = static_cast<double>(kClasses) * mean(of).loss};
  };
  const auto distance = [&](std::size_t i) { return std::abs(double{y[i]} - double{t[i]}); };
  const auto log_sigmoid = [](double x) { return -std::log1p(std::exp(-x)); };
  const double s = c.options.label_smoothing;
  const std::vector<double> log_p = log_softmax(y);
  switch (c.loss) {
    case Loss::mse: return mean([&](auto i) { return weight(i) * distance(i) * distance(i); });
    case Loss::mae: return mean([&](auto i) { return weight(i) * distance(i); });
    case Loss::huber:
      return mean([&](auto i) {
        const double delta = c.options.huber_delta;
        const double d = distance(i);
        return d <= delta ? d * d / 2 : delta * (d - delta / 2);
      });
    case Loss::minkowski:
      return mean([&](auto i) { return std::pow(distance(i), c.options.minkowski_exponent); });
    case Loss::quantile:
      return mean([&](auto i) {
        return distance(i) * (t[i] > y[i] ? c.options.quantile : 1 - c.options.quantile);
      });
    case Loss::hinge:
      return mean([&](auto i) { return std::max(0.0, 1 - double{y[i]} * double{t[i]}); });
    case Loss::cosine: {
      const double yt = total([&](auto i) { return double{y[i]} * t[i]; }).loss;
      const double yy = total([&](auto i) { return double{y[i]} * y[i]; }).loss;
      const double tt = total([&](auto i) { return double{t[i]} * t[i]; }).loss;
      return {.loss = 1 - yt / std::sqrt(yy * tt)};
    }
    case Loss::cross_entropy:
      return total([&](auto i) {
        return -weight(i) * ((1 - s) * t[i] + s / static_cast<double>(kClasses)) * log_p[i];
      });
    case Loss::kl_divergence:
      return total([&](auto i) { return t[i] * (std::log(double{t[i]}) - log_p[i]); });
    case Loss::focal:
      return mean([&](auto i) {
        const double yes = log_sigmoid(y[i]);
        const double no = log_sigmoid(-y[i]);
        const double gamma = c.options.focal_gamma;
        return -0.25 * t[i] * yes * std::pow(1 - std::exp(yes), gamma) -
               0.75 * (1 - t[i]) * no * std::pow(1 - std::exp(no), gamma);
      });
    default:
      return mean([&](auto i) {
        const double positive =
            c.options.positive_weights.empty() ? 1 : c.options.positive_weights[i];
        const double yes = (1 - s) * t[i] + s / 2;
        return -weight(i) *
               (positive * yes * log_sigmoid(y[i]) + (1 - yes) * log_sigmoid(-double{y[i]}));
      });
  }
}

struct Sizes {
  Weights weights = Weights::none;
  bool lengths = false;
};

std::int32_t length_of(std::size_t sample) {
  return static_cast<std::int32_t>(sample % kSteps) + 1;
}

Column targets_of(const Case& c, const Sizes& how, const std::string& name) {
  Column column{name, c.targets == Targets::labels
                          ? records(labels(), {kSteps})
                          : records(values(c.targets), {kSteps, kClasses})};
  if (how.lengths)
    column.lengths = Tensor([] {
      std::vector<std::int32_t> all;
      for (std::size_t i = 0; i < kSamples; ++i) all.push_back(length_of(i));
      return all;
    }());
  return column;
}

Dataset data_of_case(const std::vector<Column>& targets, const Sizes& how) {
  std::vector<float> x(kRows * 3);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 3 * noise(i);
  Column input{"x", records(std::move(x), {kSteps, 3})};
  input.lengths = targets.front().lengths;
  Dataset data({input}, targets);
  if (how.weights == Weights::samples) data.set_weights(Tensor(weights(how.weights)));
  if (how.weights == Weights::steps) {
    data.set_weights(records(weights(how.weights), {kSteps}));
  }
  return data;
}

/// The loss over all rows, summed in double precision.
double expected(const Case& c, const Sizes& how, std::span<const float> outputs) {
  const std::vector<std::int32_t> label = labels();
  const std::vector<float> t =
      c.targets == Targets::labels ? std::vector<float>() : values(c.targets);
  const std::vector<float> w =
      how.weights == Weights::none ? std::vector<float>(kRows, 1) : weights(how.weights);
  double loss = 0;
  double count = 0;
  for (std::size_t row = 0; row < kRows; ++row) {
    const std::size_t sample = row / kSteps;
    if (how.lengths && static_cast<std::int32_t>(row % kSteps) >= length_of(sample)) continue;
    const Row y = outputs.subspan(row * kClasses, kClasses);
    const Term term = c.targets == Targets::labels
                          ? term_of_label(c, y, static_cast<std::size_t>(label[row]))
                          : term_of_values(c, y, std::span(t).subspan(row * kClasses, kClasses));
    const double weight = how.weights == Weights::samples ? w[sample] : w[row];
    loss += weight * term.loss;
    count += weight * term.count;
  }
  return loss / count;
}

const std::vector<double> kClassWeights{0.25, 3, 1, 7};

std::vector<Case> cases() {
  const LossOptions weighed{.class_weights = kClassWeights};
  const LossOptions ignored{.ignore_index = 0};
  const LossOptions all{.label_smoothing = 0.1, .class_weights = kClassWeights, .ignore_index = 2};
  const LossOptions both{.class_weights = kClassWeights, .ignore_index = 2};
  return {
      {"cross entropy", Loss::cross_entropy, Targets::labels},
      {"cross entropy, weights", Loss::cross_entropy, Targets::labels, weighed},
      {"cross entropy, ignored", Loss::cross_entropy, Targets::labels, ignored},
      {"cross entropy, all", Loss::cross_entropy, Targets::labels, all},
      {"focal", Loss::focal, Targets::labels, both},
      {"focal, ignored", Loss::focal, Targets::labels, ignored},
      {"hinge", Loss::hinge, Targets::labels, both},
      {"hinge, ignored", Loss::hinge, Targets::labels, ignored},
      {"shares",
       Loss::cross_entropy,
       Targets::shares,
       {.label_smoothing = 0.1, .class_weights = kClassWeights}},
      {"kl divergence", Loss::kl_divergence, Targets::shares},
      {"mse", Loss::mse, Targets::values, weighed},
      {"mae", Loss::mae, Targets::values, weighed},
      {"huber", Loss::huber, Targets::values, {.huber_delta = 0.5}},
      {"minkowski", Loss::minkowski, Targets::values, {.minkowski_exponent = 1.25}},
      {"quantile", Loss::quantile, Targets::values, {.quantile = 0.8}},
      {"cosine", Loss::cosine, Targets::values},
      {"hinge of values", Loss::hinge, Targets::values},
      {"focal of answers", Loss::focal, Targets::answers},
      {"binary cross entropy",
       Loss::binary_cross_entropy,
       Targets::answers,
       {.label_smoothing = 0.2, .class_weights = kClassWeights, .positive_weights = {1, 2, 3, 4}}},
  };
}

constexpr Sizes kAllSizes[] = {{Weights::none, false},   {Weights::samples, false},
                               {Weights::steps, false},  {Weights::none, true},
                               {Weights::samples, true}, {Weights::steps, true}};

Model model_of(const Sizes& how) {
  std::vector<Layer> layers;
  if (how.lengths) layers.emplace_back(Lengths{});
  layers.emplace_back(Dense{.units = kClasses});
  return Model(Network({kSteps, 3}, layers), {.device = "cpu", .threads = 1, .seed = 4});
}

TEST(EvaluationLoss, IsThatOfTheWholeSetAtAnyBatch) {
  for (const Case& c : cases()) {
    for (const Sizes& how : kAllSizes) {
      const Dataset data = data_of_case({targets_of(c, how, "y")}, how);
      Model model = model_of(how);
      const double wanted = expected(c, how, vector_of(model.predict(data)));
      for (const std::int64_t batch : {1, 4, 7, 23}) {
        EXPECT_NEAR(evaluate(model, data, c.loss, batch, c.options).loss, wanted, 2e-6 * wanted)
            << c.name << ", weights " << static_cast<int>(how.weights) << ", lengths "
            << how.lengths << ", batch " << batch;
      }
    }
  }
}

TEST(EvaluationLoss, OfSeveralOutputsIsTheSumOfTheirs) {
  const Case labels_case{"",
                         Loss::cross_entropy,
                         Targets::labels,
                         {.class_weights = kClassWeights}};
  const Case values_case{"", Loss::mae, Targets::values};
  for (const Sizes& how : kAllSizes) {
    FunctionalNetwork f;
    Expression x = f.input("x", {kSteps, 3});
    if (how.lengths) x = x | Lengths{};
    const Network network = f.build(
        {{"first", x | Dense{.units = kClasses}}, {"second", x | Dense{.units = kClasses}}});
    Model model(network, {.device = "cpu", .threads = 1, .seed = 4});
    const Dataset data = data_of_case({targets_of(labels_case, how, "first"),
                                       targets_of(values_case, how, "second")},
                                      how);
    const std::vector<Column> outputs = model.predict_all(data);
    const double wanted = expected(labels_case, how, outputs[0].data.as<float>()) +
                          0.5 * expected(values_case, how, outputs[1].data.as<float>());
    Objective objective;
    objective.output_losses = {{.output = "first",
                                .loss = labels_case.loss,
                                .options = labels_case.options},
                               {.output = "second", .loss = values_case.loss, .weight = 0.5}};
    Trainer trainer(model, objective);
    for (const std::int64_t batch : {1, 4, 23}) {
      EXPECT_NEAR(trainer.evaluate(data, batch).loss, wanted, 2e-6 * wanted)
          << static_cast<int>(how.weights) << how.lengths << ", batch " << batch;
    }
  }
}

/// A user's function is a mean over samples and steps, by their weights.
TEST(EvaluationLoss, OfOnesOwnFunctionCountsByWeight) {
  const Case c{"", Loss::mse, Targets::values};
  Objective objective;
  objective.custom_loss = [](const Expression& y, const Expression& t) { return square(y - t); };
  for (const Sizes& how : kAllSizes) {
    const Dataset data = data_of_case({targets_of(c, how, "y")}, how);
    Model model = model_of(how);
    const double wanted = expected(c, how, vector_of(model.predict(data)));
    Trainer trainer(model, objective);
    for (const std::int64_t batch : {1, 4, 23}) {
      EXPECT_NEAR(trainer.evaluate(data, batch).loss, wanted, 2e-6 * wanted) << batch;
    }
  }
}

/// Early stopping and keep_best follow the validation loss, so neither may depend on the batch. The
/// rate is so small that no weight changes.
TEST(EvaluationLoss, OfAValidationSetIsTheSameAtAnyBatchAndShards) {
  const Case c{"",
               Loss::cross_entropy,
               Targets::labels,
               {.class_weights = kClassWeights, .ignore_index = 2}};
  const Sizes how{Weights::samples, true};
  const Dataset data = data_of_case({targets_of(c, how, "y")}, how);
  for (const std::int64_t batch : {3, 8, 23}) {
    for (const std::int64_t shards : {1, 2}) {
      Model model = model_of(how);
      const double wanted = expected(c, how, vector_of(model.predict(data)));
      Trainer trainer(model, {.loss = c.loss,
                              .loss_options = c.options,
                              .optimizer = SGD{.learning_rate = 1e-30}});
      const History history = trainer.fit(
          data, {.epochs = 1, .batch = batch, .shards = shards, .validation = data, .test = data});
      EXPECT_NEAR(history.epochs.back().validation.loss, wanted, 2e-6 * wanted)
          << batch << ' ' << shards;
      EXPECT_NEAR(history.epochs.back().test.loss, wanted, 2e-6 * wanted) << batch << ' ' << shards;
    }
  }
}

}  // namespace
}  // namespace linnet::testing
