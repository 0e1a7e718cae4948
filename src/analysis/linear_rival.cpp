// SPDX-License-Identifier: Apache-2.0
#include "analysis/linear_rival.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/cholesky.h"
#include "data/targets.h"

namespace linnet {
namespace {

constexpr std::size_t kMostFeatures = 512;
constexpr std::size_t kMostNumbers = std::size_t{1} << 21;  // rows, features and outputs multiplied
constexpr std::size_t kFewRows = 2;                         // times the features
constexpr double kPenalty = 1;
constexpr int kIterations = 100;

/// A table of numbers, row-major.
struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> values = {};

  Matrix(std::size_t r, std::size_t c) : rows(r), columns(c), values(r * c) {}
  std::span<double> row(std::size_t i) { return std::span(values).subspan(i * columns, columns); }
  std::span<const double> row(std::size_t i) const {
    return std::span(values).subspan(i * columns, columns);
  }
};

/// Turns samples into standardised features, as fitted on a training set; the last one is 1.
class Features {
 public:
  /// Nothing where an input is not of numbers or ids in memory.
  static std::optional<Features> fit(const Dataset& train) {
    Features features;
    std::map<std::int64_t, std::int64_t> counts;  // samples by place and id
    for (std::size_t i = 0; i < train.inputs().size(); ++i) {
      const Column& input = train.inputs()[i];
      if (input.source != nullptr || input.has_lengths() || input.record().rank() != 1) return {};
      if (input.dtype() == DType::f32) {
        features.numbers_ += static_cast<std::size_t>(input.record()[0]);
      } else if (input.dtype() == DType::i32) {
        const std::span<const std::int32_t> ids = input.data.as<std::int32_t>();
        for (const std::int32_t id : ids) ++counts[key(i, id)];
      } else {
        return {};
      }
    }
    // The most frequent ids have a feature; ties go to the lower id.
    std::vector<std::pair<std::int64_t, std::int64_t>> ids(counts.begin(), counts.end());
    std::ranges::stable_sort(ids, std::greater<>(), [](const auto& one) { return one.second; });
    if (features.numbers_ > kMostFeatures) return {};
    if (ids.size() > kMostFeatures - features.numbers_)
      ids.resize(kMostFeatures - features.numbers_);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      features.ids_[ids[i].first] = features.numbers_ + i;
    }
    features.means_.assign(features.numbers_ + ids.size(), 0);
    features.factors_.assign(features.means_.size(), 1);
    return features;
  }

  std::size_t count() const { return means_.size(); }

  void standardise(const Dataset& train, const std::vector<std::size_t>& rows) {
    std::vector<double> squares(count());
    const Matrix raw = of(train, rows);
    const auto n = static_cast<double>(rows.size());
    std::vector<double> means(count());
    for (std::size_t r = 0; r < raw.rows; ++r) {
      for (std::size_t f = 0; f < count(); ++f) means[f] += raw.row(r)[f] / n;
    }
    for (std::size_t r = 0; r < raw.rows; ++r) {
      for (std::size_t f = 0; f < count(); ++f) {
        const double from_mean = raw.row(r)[f] - means[f];
        squares[f] += from_mean * from_mean / n;
      }
    }
    means_ = std::move(means);
    for (std::size_t f = 0; f < count(); ++f) {
      factors_[f] = squares[f] > 0 ? 1 / std::sqrt(squares[f]) : 0;
    }
  }

  Matrix of(const Dataset& data, const std::vector<std::size_t>& rows) const {
    Matrix out(rows.size(), count() + 1);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::span<double> row = out.row(r);
      std::size_t first = 0;
      for (std::size_t i = 0; i < data.inputs().size(); ++i) {
        const Column& input = data.inputs()[i];
        const auto width = static_cast<std::size_t>(input.record()[0]);
        if (input.dtype() == DType::f32) {
          const auto values = input.data.as<float>().subspan(rows[r] * width, width);
          for (const float value : values) row[first++] = static_cast<double>(value);
          continue;
        }
        for (const std::int32_t id :
             input.data.as<std::int32_t>().subspan(rows[r] * width, width)) {
          const auto found = ids_.find(key(i, id));
          if (found != ids_.end()) row[found->second] = 1;
        }
      }
      for (std::size_t f = 0; f < count(); ++f) row[f] = (row[f] - means_[f]) * factors_[f];
      row[count()] = 1;
    }
    return out;
  }

 private:
  static std::int64_t key(std::size_t input, std::int32_t id) {
    return (static_cast<std::int64_t>(input) << 32) + id;
  }

  std::size_t numbers_ = 0;
  std::map<std::int64_t, std::size_t> ids_;  // feature by input and id
  std::vector<double> means_;
  std::vector<double> factors_;
};

/// factor * XᵀX, with the penalty on the diagonal but for the last feature, which is 1.
Cholesky normal_equations(const Matrix& x, double factor) {
  const std::size_t n = x.columns;
  std::vector<double> lower(n * n);
  for (std::size_t r = 0; r < x.rows; ++r) {
    const std::span<const double> row = x.row(r);
    for (std::size_t i = 0; i < n; ++i) {
      const double scaled = factor * row[i];
      for (std::size_t j = 0; j <= i; ++j) lower[i * n + j] += scaled * row[j];
    }
  }
  for (std::size_t i = 0; i + 1 < n; ++i) lower[i * n + i] += kPenalty;
  return {std::move(lower), n};
}

double product(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void add(std::span<double> to, std::span<const double> row, double factor) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * row[i];
}

/// The weights of each class. Newton's method with a bound of the Hessian that is the same in all
/// iterations, so one decomposition is enough (Boehning, 1992).
Matrix logistic(const Matrix& x, const std::vector<std::size_t>& labels, std::size_t classes) {
  const Cholesky solver = normal_equations(x, 0.5);
  Matrix weights(classes, x.columns);
  std::vector<double> logits(classes);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    Matrix gradients(classes, x.columns);
    for (std::size_t c = 0; c < classes; ++c) {
      add(gradients.row(c).first(x.columns - 1), weights.row(c), kPenalty);
    }
    for (std::size_t r = 0; r < x.rows; ++r) {
      for (std::size_t c = 0; c < classes; ++c) logits[c] = product(weights.row(c), x.row(r));
      const double most = std::ranges::max(logits);
      double sum = 0;
      for (double& logit : logits) sum += logit = std::exp(logit - most);
      for (std::size_t c = 0; c < classes; ++c) {
        add(gradients.row(c), x.row(r), logits[c] / sum - (labels[r] == c ? 1 : 0));
      }
    }
    for (std::size_t c = 0; c < classes; ++c) {
      solver.solve(gradients.row(c));
      add(weights.row(c), gradients.row(c), -1);
    }
  }
  return weights;
}

Matrix ridge(const Matrix& x, std::span<const float> targets, const std::vector<std::size_t>& rows,
             std::size_t columns) {
  const Cholesky solver = normal_equations(x, 1);
  Matrix weights(columns, x.columns);
  for (std::size_t c = 0; c < columns; ++c) {
    // Less the first value: targets may be far from zero.
    const auto zero = static_cast<double>(targets[c]);
    for (std::size_t r = 0; r < x.rows; ++r) {
      add(weights.row(c), x.row(r), static_cast<double>(targets[rows[r] * columns + c]) - zero);
    }
    solver.solve(weights.row(c));
    weights.row(c)[x.columns - 1] += zero;
  }
  return weights;
}

/// Rows at equal distances.
std::vector<std::size_t> spread(std::size_t count, std::size_t of) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < count; ++i) rows.push_back(i * of / count);
  return rows;
}

std::vector<float> answers_of_one(const Dataset& train, const Dataset& data, std::int64_t classes) {
  const std::span<const std::int32_t> labels = labels_of(train);
  const std::span<const float> values = values_of(train);
  const std::int64_t columns = labels.empty() ? value_shape_of(train).elements() : classes;
  if ((labels.empty() && values.empty()) || columns < 1 || data.size() == 0) return {};
  if (!labels.empty() && columns < 2) return {};
  std::optional<Features> features = Features::fit(train);
  if (!features || features->count() == 0) return {};
  const auto outputs = static_cast<std::size_t>(columns);
  const auto all = static_cast<std::size_t>(train.size());
  const std::size_t rows = std::min(all, kMostNumbers / (features->count() * outputs));
  if (rows < all && rows < kFewRows * features->count()) return {};
  std::vector<std::size_t> chosen = spread(rows, all);
  if (!labels.empty()) {
    std::erase_if(chosen,
                  [&](std::size_t row) { return labels[row] < 0 || labels[row] >= columns; });
    if (chosen.empty()) return {};
  }
  features->standardise(train, chosen);
  const Matrix x = features->of(train, chosen);
  std::vector<std::size_t> classes_of_rows;
  for (const std::size_t row : chosen) {
    if (!labels.empty()) classes_of_rows.push_back(static_cast<std::size_t>(labels[row]));
  }
  const Matrix weights =
      labels.empty() ? ridge(x, values, chosen, outputs) : logistic(x, classes_of_rows, outputs);
  std::vector<float> predictions;
  predictions.reserve(static_cast<std::size_t>(data.size()) * outputs);
  for (std::size_t row = 0; row < static_cast<std::size_t>(data.size()); ++row) {
    const Matrix sample = features->of(data, {row});
    for (std::size_t c = 0; c < outputs; ++c) {
      predictions.push_back(static_cast<float>(product(weights.row(c), sample.row(0))));
    }
  }
  return predictions;
}

std::vector<std::int64_t> rows_where(std::span<const float> folds, bool (*is)(float, float),
                                     float fold) {
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < folds.size(); ++i) {
    if (is(folds[i], fold)) rows.push_back(static_cast<std::int64_t>(i));
  }
  return rows;
}

}  // namespace

std::vector<float> linear_predictions(const Dataset& train, const Dataset& data,
                                      std::int64_t classes) {
  const std::span<const float> asked = data.folds().as<float>();
  const std::span<const float> learned = train.folds().as<float>();
  if (asked.empty() || learned.empty()) return answers_of_one(train, data, classes);
  std::vector<float> answers;
  for (const float fold : std::set<float>(asked.begin(), asked.end())) {
    const auto other = [](float a, float b) { return a != b || a < 0; };
    const std::vector<std::int64_t> rows = rows_where(
        asked, [](float a, float b) { return a == b; }, fold);
    const std::vector<float> own =
        answers_of_one(train.take(rows_where(learned, other, fold)), data.take(rows), classes);
    if (own.empty()) return {};
    const std::size_t outputs = own.size() / rows.size();
    answers.resize(asked.size() * outputs);
    for (std::size_t i = 0; i < own.size(); ++i) {
      answers[static_cast<std::size_t>(rows[i / outputs]) * outputs + i % outputs] = own[i];
    }
  }
  return answers;
}

}  // namespace linnet
