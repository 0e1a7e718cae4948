// SPDX-License-Identifier: Apache-2.0
// Support vector machines of the domain ai.onnx.ml: products with the support vectors.
#include <linnet/functions.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/check.h"
#include "onnx/classifier.h"

namespace linnet::onnx {
namespace {

constexpr std::int64_t kMostClasses = 64;        // as many scores as pairs of them
constexpr std::int64_t kMostProbabilities = 10;  // classes whose pairs become probabilities
constexpr int kRounds = 10;                      // random pairs take 4 at most
constexpr double kMostWhole = 16;                // of exponents that are products

/// Returns x to the power of an exponent, of negative numbers too where it is whole.
Expression to_power(const Expression& x, double exponent) {
  if (exponent < 1 || exponent > kMostWhole || exponent != std::floor(exponent)) {
    return pow(x, exponent);
  }
  Expression y = x;
  for (int i = 1; i < static_cast<int>(exponent); ++i) y = y * x;
  return y;
}

/// Returns the kernel of a sample with each support vector: (vectors).
Expression kernels(NodeImport& n, std::int64_t vectors) {
  const Expression x = rows_of_features(n, 0);
  const std::int64_t features = x.shape()[0];
  std::vector<double> all = n.numbers("support_vectors");
  const std::vector<double> given = n.numbers("kernel_params");
  const std::string kernel = n.text("kernel_type", "LINEAR");
  require<DataError>(vectors > 0 && std::ssize(all) % vectors == 0 &&
                         std::ssize(all) / vectors == features,
                     "expected {} support vectors of {} features; got {} numbers", vectors,
                     features, all.size());
  require<DataError>(given.empty() || given.size() == 3, "expected 3 kernel_params; got {}",
                     given.size());
  const std::vector<double> params = given.empty() ? std::vector<double>{0, 0, 0} : given;
  require<DataError>(std::ranges::all_of(params, [](double x) { return std::isfinite(x); }),
                     "expected finite kernel_params");
  require<DataError>(kernel == "LINEAR" || kernel == "POLY" || kernel == "RBF" ||
                         kernel == "SIGMOID",
                     "kernel_type '{}' is not supported", kernel);
  require<DataError>(std::ssize(all) <= kMostComputed,
                     "the support vectors have {} numbers; expected at most 2^24", all.size());
  const Expression w = made_weight(n, "vectors", {vectors, features}, std::move(all));
  if (kernel == "RBF") {  // from differences, which squares of large features would lose
    return exp(sum(square(reshape(x, {1, features}) - w), {1}) * -params[0]);
  }
  const Expression products = linear(x, w);
  if (kernel == "LINEAR") return products;
  const Expression moved = products * params[0] + params[1];
  return kernel == "POLY" ? to_power(moved, params[2]) : tanh(moved);
}

/// Returns x wᵀ + b of samples of one axis.
Expression product(NodeImport& n, const Expression& x, std::string_view role, Dims dims,
                   std::vector<double> w, std::vector<double> b, bool trains) {
  const std::int64_t units = dims[0];
  const ConstantPtr weight =
      made_constant(n, fmt::format("{}.weight", role), std::move(dims), std::move(w), trains);
  const ConstantPtr bias =
      made_constant(n, fmt::format("{}.bias", role), {units}, std::move(b), trains);
  return arranged(dense(n, as_rows(x), weight, 0, bias), {1});
}

/// Classes, and the pairs that a support vector machine tells apart: 0 and 1, 0 and 2, ...
struct Pairs {
  std::int64_t classes;
  std::vector<std::pair<std::int64_t, std::int64_t>> all;

  explicit Pairs(std::int64_t count) : classes(count) {
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t j = i + 1; j < count; ++j) all.emplace_back(i, j);
    }
  }
  std::int64_t count() const { return std::ssize(all); }
};

/// Returns the scores of all pairs: above 0 for the first of the two.
Expression pair_scores(NodeImport& n, const Pairs& pairs,
                       const std::vector<std::int64_t>& vectors_per_class) {
  std::vector<std::int64_t> first = {0};
  for (const std::int64_t count : vectors_per_class) {
    require<DataError>(count >= 0 && count <= kMostComputed - first.back(),
                       "expected at most 2^24 support vectors, and at least 0 for each class; got "
                       "{}",
                       count < 0 ? count : first.back() + count);
    first.push_back(first.back() + count);
  }
  const std::int64_t vectors = first.back();
  const std::vector<double> coefficients = n.numbers("coefficients");
  const std::vector<double> rho = n.numbers("rho");
  require<DataError>(std::ssize(coefficients) == (pairs.classes - 1) * vectors,
                     "expected {} coefficients for {} support vectors of {} classes; got {}",
                     (pairs.classes - 1) * vectors, vectors, pairs.classes, coefficients.size());
  require<DataError>(std::ssize(rho) == pairs.count(), "expected {} numbers in rho; got {}",
                     pairs.count(), rho.size());
  require<DataError>(vectors > 0 && vectors <= kMostComputed / pairs.count(),
                     "{} support vectors of {} pairs of classes are not supported", vectors,
                     pairs.count());
  const Expression k = kernels(n, vectors);
  std::vector<double> w(static_cast<std::size_t>(pairs.count() * vectors), 0);
  for (std::int64_t p = 0; p < pairs.count(); ++p) {
    const auto [i, j] = pairs.all[static_cast<std::size_t>(p)];
    // A vector's coefficients against the other classes, which leave its own out.
    const auto copy = [&](std::int64_t of, std::int64_t row) {
      for (std::int64_t v = first[static_cast<std::size_t>(of)];
           v < first[static_cast<std::size_t>(of) + 1]; ++v) {
        w[static_cast<std::size_t>(p * vectors + v)] =
            coefficients[static_cast<std::size_t>(row * vectors + v)];
      }
    };
    copy(i, j - 1);
    copy(j, i);
  }
  return product(n, k, "pairs", {pairs.count(), vectors}, std::move(w), rho, true);
}

/// Returns the class that wins most pairs, the first of equal ones.
Expression most_votes(NodeImport& n, const Pairs& pairs, const Expression& scores) {
  const auto count = static_cast<std::size_t>(pairs.count());
  std::vector<double> w(static_cast<std::size_t>(pairs.classes) * count, 0);
  std::vector<double> b(static_cast<std::size_t>(pairs.classes), 0);
  for (std::size_t p = 0; p < count; ++p) {
    const auto [i, j] = pairs.all[p];
    w[static_cast<std::size_t>(i) * count + p] = 1;
    w[static_cast<std::size_t>(j) * count + p] = -1;
    b[static_cast<std::size_t>(j)] += 1;
  }
  const Expression won = scores > 0;
  return argmax(
      product(n, won, "votes", {pairs.classes, pairs.count()}, std::move(w), std::move(b), false));
}

/// Returns probabilities of classes from those of pairs (Wu, Lin and Weng, 2004, algorithm 2), as
/// ONNX's reference and libsvm iterate: until no error is above 0.005 / classes.
Expression from_pairs(NodeImport& n, const Pairs& pairs, const Expression& scores) {
  const std::vector<double> a = n.numbers("prob_a");
  const std::vector<double> b = n.numbers("prob_b");
  require<DataError>(std::ssize(a) == pairs.count() && a.size() == b.size(),
                     "expected {} numbers in prob_a and prob_b; got {} and {}", pairs.count(),
                     a.size(), b.size());
  require<DataError>(pairs.classes <= kMostProbabilities,
                     "probabilities of {} classes are not supported: expected at most {}",
                     pairs.classes, kMostProbabilities);
  const std::int64_t k = pairs.classes;
  const Expression logits = scores * made_weight(n, "prob_a", {pairs.count()}, a, true) +
                            made_weight(n, "prob_b", {pairs.count()}, b, true);
  const Expression p = clip(sigmoid(-logits), 1e-7, 1 - 1e-7);  // of the first of a pair
  const Expression q = 1 - p;
  // Q: its diagonal adds squares of what the others have against a class.
  const auto rows = static_cast<std::size_t>(k * k);
  const auto columns = static_cast<std::size_t>(3 * pairs.count());
  std::vector<double> w(rows * columns, 0);
  for (std::size_t at = 0; at < pairs.all.size(); ++at) {
    const auto [i, j] = pairs.all[at];
    const auto set = [&](std::int64_t row, std::int64_t column, std::size_t part, double value) {
      w[static_cast<std::size_t>(row * k + column) * columns + part * pairs.all.size() + at] =
          value;
    };
    set(i, i, 0, 1);
    set(j, j, 1, 1);
    set(i, j, 2, -1);
    set(j, i, 2, -1);
  }
  const Expression parts = side_by_side({square(q), square(p), p * q});
  const Dims dims{k * k, static_cast<std::int64_t>(columns)};
  const Expression matrix =
      reshape(linear(parts, made_weight(n, "pairs_to_matrix", dims, std::move(w))), {k, k});
  Expression x = scores * 0;
  x = reshape(sum(x), {1}) +
      made_weight(n, "start", {k},
                  std::vector<double>(static_cast<std::size_t>(k), 1.0 / static_cast<double>(k)));
  std::optional<Expression> goes;  // 1 until a round's errors are small
  for (int round = 0; round < kRounds; ++round) {
    Expression product = matmul(matrix, x);
    Expression whole = sum(x * product, {0}, true);
    const Expression is_open =
        max(abs(product - whole), {0}, true) >= 0.005 / static_cast<double>(k);
    goes = goes ? *goes * is_open : is_open;
    for (std::int64_t t = 0; t < k; ++t) {
      const Expression row = reshape(slice(matrix, 0, t, t + 1), {k});
      const Expression own = slice(row, 0, t, t + 1);
      const Expression here = slice(product, 0, t, t + 1);
      const Expression step = *goes * (whole - here) / own;
      const Expression scale = 1 / (1 + step);
      x = (x + pad(step, 0, t, k - 1 - t)) * scale;
      whole = (whole + step * (step * own + here * 2)) * scale * scale;
      product = (product + row * step) * scale;
    }
  }
  return x;
}

void classify_by_vectors(NodeImport& n) {
  const ClassLabels labels = class_labels(n, "classlabels_ints");
  const std::string transform = n.text("post_transform", "NONE");
  const std::vector<std::int64_t> per_class = n.integers("vectors_per_class");
  require<DataError>(!per_class.empty(),
                     "a machine without support vectors is not supported: expected "
                     "vectors_per_class");
  require<DataError>(std::ssize(per_class) == labels.count() && labels.count() >= 2 &&
                         labels.count() <= kMostClasses,
                     "expected support vectors for each of 2 to {} classes; got {} for {}",
                     kMostClasses, per_class.size(), labels.count());
  const Pairs pairs(labels.count());
  const Expression scores = pair_scores(n, pairs, per_class);
  give_labels(n, labels, most_votes(n, pairs, scores), 0);
  if (!n.numbers("prob_a").empty() || !n.numbers("prob_b").empty()) {
    give_scores(n, labels, after_transform(n, from_pairs(n, pairs, scores), transform), 1);
    return;
  }
  require<DataError>(transform == "NONE", "post_transform '{}' of scores is not supported",
                     transform);
  if (labels.count() == 2) return give_scores(n, labels, side_by_side({-scores, scores}), 1);
  n.give(as_rows(scores), 1);
}

void regress_by_vectors(NodeImport& n) {
  const std::string transform = n.text("post_transform", "NONE");
  require<DataError>(transform == "NONE", "post_transform '{}' is not supported", transform);
  const std::int64_t vectors = n.integer("n_supports", 0);
  const bool one_class = n.flag("one_class", false);
  std::vector<double> coefficients = n.numbers("coefficients");
  std::vector<double> rho = n.numbers("rho");
  require<DataError>(vectors > 0, "a machine without support vectors is not supported");
  require<DataError>(std::ssize(coefficients) == vectors && rho.size() == 1,
                     "expected {} coefficients and one rho; got {} and {}", vectors,
                     coefficients.size(), rho.size());
  const Expression k = kernels(n, vectors);
  const Expression y =
      product(n, k, "sum", {1, vectors}, std::move(coefficients), std::move(rho), true);
  n.give(as_rows(one_class ? (y > 0) * 2 - 1 : y));
}

}  // namespace

void add_vector_machines(Operators& all) {
  all["ai.onnx.ml.SVMClassifier"] = {classify_by_vectors,
                                     "with support vectors; probabilities of at most 10 classes"};
  all["ai.onnx.ml.SVMRegressor"] = {regress_by_vectors, "with support vectors"};
}

}  // namespace linnet::onnx
