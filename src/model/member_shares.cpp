// SPDX-License-Identifier: Apache-2.0
// How much each member of an ensemble counts, by held-out samples.
#include "model/member_shares.h"

#include <linnet/model.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>

#include "base/check.h"
#include "data/targets.h"
#include "model/bind_columns.h"
#include "model/model_state.h"
#include "model/output_form.h"
#include "nn/ensembles.h"

namespace linnet {
namespace {

constexpr double kLeastShare = 1e-3;  // whose logarithm is finite
constexpr double kLeastProbability = 1e-6;
/// The number of held-out samples as which equal shares count.
constexpr double kPrior = 8;

/// Moves numbers to the nearest ones that are not negative and together 1 (Duchi et al., 2008).
void project_to_simplex(std::vector<double>& w) {
  std::vector<double> sorted = w;
  std::ranges::sort(sorted, std::greater());
  double sum = 0;
  double shift = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    sum += sorted[i];
    const double own = (sum - 1) / static_cast<double>(i + 1);
    if (sorted[i] > own) shift = own;
  }
  for (double& one : w) one = std::max(0.0, one - shift);
}

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

/// Returns the probability that logits give to a class.
double probability_of(std::span<const float> logits, std::int32_t label) {
  const float largest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit - largest));
  return std::exp(static_cast<double>(logits[static_cast<std::size_t>(label)] - largest)) / sum;
}

/// Returns the std of a column of row-major values, or 1 where they are equal.
double std_of_column(std::span<const float> values, std::size_t column, std::size_t columns) {
  double mean = 0;
  double squares = 0;
  double count = 0;
  for (std::size_t i = column; i < values.size(); i += columns) {
    const double apart = values[i] - mean;
    mean += apart / ++count;
    squares += apart * (values[i] - mean);
  }
  return squares > 0 ? std::sqrt(squares / count) : 1;
}

/// Returns of(outputs of a member, observation), (observations, members).
template <class Of>
std::vector<double> observed(const std::vector<Tensor>& outputs,
                             const std::vector<std::size_t>& observations, Of of) {
  std::vector<double> all;
  all.reserve(observations.size() * outputs.size());
  for (const std::size_t i : observations) {
    for (const Tensor& one : outputs) all.push_back(of(one.as<float>(), i));
  }
  return all;
}

std::vector<std::size_t> first_numbers(std::size_t count) {
  std::vector<std::size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  return numbers;
}

/// Returns the probabilities of the samples' classes, but of labels that are no class; nothing
/// where targets are no labels.
std::vector<double> observed_classes(const std::vector<Tensor>& outputs, const Column& target) {
  if (target.dtype() != DType::i32 || target.record().elements() != 1) return {};
  const Tensor held = column_in_memory(target);
  const std::span<const std::int32_t> labels = held.as<std::int32_t>();
  const std::size_t classes = outputs.front().as<float>().size() / labels.size();
  std::vector<std::size_t> known = first_numbers(labels.size());
  std::erase_if(known, [&](std::size_t i) {
    return labels[i] < 0 || static_cast<std::size_t>(labels[i]) >= classes;
  });
  return observed(outputs, known, [&](std::span<const float> logits, std::size_t i) {
    return std::max(kLeastProbability,
                    probability_of(logits.subspan(i * classes, classes), labels[i]));
  });
}

/// Returns the probabilities of labels of yes or no; nothing where targets are not f32.
std::vector<double> observed_labels(const std::vector<Tensor>& outputs, const Column& target) {
  if (target.dtype() != DType::f32) return {};
  const Tensor held = column_in_memory(target);
  const std::span<const float> labels = held.as<float>();
  if (labels.size() != outputs.front().as<float>().size()) return {};
  return observed(outputs, first_numbers(labels.size()),
                  [&](std::span<const float> logits, std::size_t i) {
                    const double sign = labels[i] > 0.5F ? -1 : 1;
                    return std::max(kLeastProbability, std::exp(-softplus(sign * logits[i])));
                  });
}

/// Returns errors, each divided by the std of its column; nothing where targets are not f32.
std::vector<double> observed_errors(const std::vector<Tensor>& outputs, const Column& target) {
  if (target.dtype() != DType::f32) return {};
  const Tensor held = column_in_memory(target);
  const std::span<const float> values = held.as<float>();
  if (values.size() != outputs.front().as<float>().size()) return {};
  const auto columns = static_cast<std::size_t>(target.record().elements());
  std::vector<double> stds;
  for (std::size_t c = 0; c < columns; ++c) stds.push_back(std_of_column(values, c, columns));
  return observed(outputs, first_numbers(values.size()),
                  [&](std::span<const float> predicted, std::size_t i) {
                    return (static_cast<double>(predicted[i]) - values[i]) / stds[i % columns];
                  });
}

/// Returns the shares of members that have those of their kind together.
std::vector<double> shared_among(const std::vector<double>& kinds, std::int64_t folds) {
  std::vector<double> members;
  for (const double share : kinds) {
    members.insert(members.end(), static_cast<std::size_t>(folds),
                   share / static_cast<double>(folds));
  }
  return members;
}

/// Returns nothing where the targets do not tell the members apart.
std::vector<double> shares_by(const std::vector<Tensor>& outputs, const Column& target,
                              Answers answers) {
  const auto shares = [&](const std::vector<double>& seen, auto of) {
    const bool usable =
        !seen.empty() && std::ranges::all_of(seen, [](double one) { return std::isfinite(one); });
    return usable ? of(seen, outputs.size(), kPrior) : std::vector<double>();
  };
  switch (answers) {
    case Answers::classes:
      return shares(observed_classes(outputs, target), shares_of_probabilities);
    case Answers::labels: return shares(observed_labels(outputs, target), shares_of_probabilities);
    case Answers::values: return shares(observed_errors(outputs, target), shares_of_values);
    case Answers::scores: break;
  }
  return {};
}

}  // namespace

std::vector<double> shares_of_probabilities(std::span<const double> right, std::size_t members,
                                            double prior) {
  constexpr int kSteps = 500;
  const auto count = static_cast<double>(members);
  const auto rows = static_cast<double>(right.size()) / count;
  std::vector<double> w(members, 1 / count);
  // Expectation maximisation of a mixture whose parts are fixed.
  for (int step = 0; step < kSteps; ++step) {
    std::vector<double> next(members, prior / count);
    for (std::size_t i = 0; i < right.size(); i += members) {
      double mixed = 0;
      for (std::size_t k = 0; k < members; ++k) mixed += w[k] * right[i + k];
      for (std::size_t k = 0; k < members; ++k) next[k] += w[k] * right[i + k] / mixed;
    }
    for (std::size_t k = 0; k < members; ++k) w[k] = next[k] / (rows + prior);
  }
  return w;
}

std::vector<double> shares_of_values(std::span<const double> errors, std::size_t members,
                                     double prior) {
  constexpr int kSteps = 2000;
  const auto count = static_cast<double>(members);
  std::vector<double> products(members * members, 0);
  for (std::size_t i = 0; i < errors.size(); i += members) {
    for (std::size_t a = 0; a < members; ++a) {
      for (std::size_t b = 0; b < members; ++b) {
        products[a * members + b] += errors[i + a] * errors[i + b];
      }
    }
  }
  // The loss of equal shares is the unit of the prior's pull.
  const double all = std::accumulate(products.begin(), products.end(), 0.0) / (count * count);
  const double pull = prior * all / (static_cast<double>(errors.size()) / count) * count;
  double trace = 0;
  for (std::size_t k = 0; k < members; ++k) trace += products[k * members + k] + pull;
  std::vector<double> w(members, 1 / count);
  if (!(trace > 0) || !std::isfinite(trace)) return w;
  for (int step = 0; step < kSteps; ++step) {
    std::vector<double> next = w;
    for (std::size_t a = 0; a < members; ++a) {
      double slope = pull * (w[a] - 1 / count);
      for (std::size_t b = 0; b < members; ++b) slope += products[a * members + b] * w[b];
      next[a] -= slope / trace;
    }
    project_to_simplex(next);
    w = std::move(next);
  }
  return w;
}

Model Model::with_member_shares(const Dataset& held_out) const {
  const NetworkDefinition& network = state_->definition();
  if (network.outputs.size() != 1 || network.outputs.front().members.empty()) return copy();
  if (held_out.size() == 0 || held_out.targets().empty()) return copy();
  const bool folds = has_folds(network, held_out);
  Model apart = copy_with(Network(std::make_unique<NetworkDefinition>(
      folds ? kinds_of_members(network) : members_of(network))));
  const std::vector<Tensor> outputs =
      predict_outputs(apart, folds ? with_fold_column(held_out) : held_out, 256);
  const Column* target = bind_targets(network, held_out).front();
  if (target == nullptr) return copy();
  std::vector<double> shares = shares_by(outputs, *target, answers());
  if (shares.empty()) return copy();
  double sum = 0;
  for (double& share : shares) sum += share = std::max(share, kLeastShare);
  for (double& share : shares) share /= sum;
  if (folds) shares = shared_among(shares, network.outputs.front().folds);
  Model made = copy_with(
      Network(std::make_unique<NetworkDefinition>(with_shares(network, answers(), shares))));
  made.state_->held_out_errors = {};  // which were measured with other shares
  return made;
}

}  // namespace linnet
