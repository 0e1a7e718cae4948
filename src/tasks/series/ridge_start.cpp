// SPDX-License-Identifier: Apache-2.0
#include "tasks/series/ridge_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/cholesky.h"
#include "series/window_contents.h"

namespace linnet {
namespace {

constexpr std::size_t kMostNumbers = 256;
constexpr std::size_t kLeastWindows = 40;
constexpr double kMostProducts = 1e9;
constexpr std::size_t kParts = 3;  // that are forecast, of one more
/// Penalties by the windows' number. The last one leaves little more than the last value.
constexpr std::array<double, 7> kStrengths{1e-4, 1e-3, 1e-2, 0.1, 1, 10, 1000};

/// Sums of products over windows: of features, the last of which is 1, and of them with targets.
struct Sums {
  std::size_t features = 0;
  std::size_t outputs = 0;
  std::vector<double> xx = {};  ///< the lower triangle, in rows
  std::vector<double> xy = {};  ///< (outputs, features)
  double windows = 0;

  Sums(std::size_t f, std::size_t o) : features(f), outputs(o), xx(f * f), xy(f * o) {}

  void add(std::span<const double> x, std::span<const double> y) {
    for (std::size_t i = 0; i < features; ++i) {
      for (std::size_t j = 0; j <= i; ++j) xx[i * features + j] += x[i] * x[j];
      for (std::size_t k = 0; k < outputs; ++k) xy[k * features + i] += x[i] * y[k];
    }
    ++windows;
  }

  /// Returns the weights (outputs, features) by a penalty on all but the last feature; nothing
  /// where the sums are not positive definite.
  std::optional<std::vector<double>> solve(double strength) const {
    std::vector<double> penalised = xx;
    for (std::size_t i = 0; i < features; ++i) {
      penalised[i * features + i] += (i + 1 < features ? strength : 1e-9) * windows;
    }
    const Cholesky solver(std::move(penalised), features);
    if (!solver.positive()) return std::nullopt;
    std::vector<double> weights = xy;
    for (std::size_t k = 0; k < outputs; ++k) {
      solver.solve(std::span(weights).subspan(k * features, features));
    }
    return weights;
  }
};

/// Reads windows as the linear parts see them.
class Reader {
 public:
  explicit Reader(const SeriesWindows& windows)
      : record_(*windows.contents()->record), data_(windows.data()) {
    past_.resize(static_cast<std::size_t>(record_.past * record_.channels()));
    future_.resize(static_cast<std::size_t>(record_.future * record_.known_channels()));
  }

  std::size_t features() const { return past_.size() + future_.size() + 1; }
  std::size_t outputs() const {
    return record_.targets.size() * static_cast<std::size_t>(record_.future);
  }

  void read(std::int64_t window, std::span<double> x, std::span<double> y) {
    const auto channels = static_cast<std::size_t>(record_.channels());
    read(data_.inputs()[0], window, past_);
    if (!future_.empty()) read(data_.inputs()[1], window, future_);
    const std::span<const float> last = std::span(past_).last(channels);
    std::vector<float> target(static_cast<std::size_t>(record_.future));
    for (std::size_t i = 0; i < record_.targets.size(); ++i) {
      const SeriesTarget& of = record_.targets[i];
      const SeriesColumn& column = record_.inputs[i];
      read(data_.targets()[i], window, target);
      const double from = last[i] * column.std + column.mean - of.offset;
      for (std::size_t step = 0; step < target.size(); ++step) {
        y[i * target.size() + step] = (target[step] - from) / of.change;
      }
    }
    for (std::size_t i = 0; i < past_.size(); ++i) {
      const std::size_t channel = i % channels;
      const bool differs = channel < record_.targets.size() && record_.targets[channel].trend;
      x[i] = !differs ? past_[i]
                      : (past_[i] - last[channel]) * record_.inputs[channel].std /
                            record_.targets[channel].change;
    }
    std::ranges::copy(future_, x.begin() + static_cast<std::ptrdiff_t>(past_.size()));
    x.back() = 1;
  }

 private:
  static void read(const Column& column, std::int64_t window, std::span<float> to) {
    column.source->read(window, std::as_writable_bytes(to));
  }

  const SeriesRecord& record_;
  Dataset data_;
  std::vector<float> past_;
  std::vector<float> future_;
};

}  // namespace

std::string linear_layer(std::int64_t target) { return fmt::format("linear_{}", target + 1); }

bool begins_as_ridge(const SeriesRecord& record, std::size_t target) {
  return record.targets[target].trend && record.season > 1;
}

State ridge_start(const SeriesWindows& windows, std::int64_t others) {
  const SeriesRecord& record = *windows.contents()->record;
  bool any = false;
  for (std::size_t i = 0; i < record.targets.size(); ++i) any = any || begins_as_ridge(record, i);
  if (!any) return {};
  Reader reader(windows);
  const std::size_t features = reader.features();
  const std::size_t outputs = reader.outputs();
  const auto count = static_cast<std::size_t>(windows.size());
  if (features > kMostNumbers + 1 || count < kLeastWindows) return {};
  const double products = static_cast<double>(features * (features + outputs));
  const auto most = static_cast<std::size_t>(kMostProducts / products);
  const std::size_t used = std::min(count, std::max(most, kLeastWindows));
  std::vector<double> x(features);
  std::vector<double> y(outputs);
  Sums sums(features, outputs);
  std::array<double, kStrengths.size()> errors{};
  double idle = 0;  // squared error of the last value
  const auto read = [&](std::size_t i) {
    reader.read(static_cast<std::int64_t>(i * count / used), x, y);
  };
  for (std::size_t part = 0, i = 0; part <= kParts; ++part) {
    const std::size_t end = (part + 1) * used / (kParts + 1);
    std::vector<std::optional<std::vector<double>>> weights;
    for (const double strength : kStrengths) {
      if (part > 0) weights.push_back(sums.solve(strength));
    }
    for (; i < end; ++i) {
      read(i);
      if (part > 0) {
        for (const double change : y) idle += change * change;
      }
      for (std::size_t s = 0; s < weights.size(); ++s) {
        for (std::size_t k = 0; k < outputs; ++k) {
          double error = -y[k];
          for (std::size_t f = 0; weights[s] && f < features; ++f) {
            error += x[f] * (*weights[s])[k * features + f];
          }
          errors[s] += weights[s] ? error * error : std::numeric_limits<double>::infinity();
        }
      }
      sums.add(x, y);
    }
  }
  const auto best = std::ranges::min_element(errors) - errors.begin();
  if (!(errors[static_cast<std::size_t>(best)] < idle)) return {};
  const std::optional<std::vector<double>> w =
      sums.solve(kStrengths[static_cast<std::size_t>(best)]);
  State state;
  if (!w || !std::ranges::all_of(*w, [](double one) { return std::isfinite(one); })) return state;
  const auto future = static_cast<std::size_t>(record.future);
  for (std::size_t i = 0; i < record.targets.size(); ++i) {
    if (!begins_as_ridge(record, i)) continue;
    std::vector<float> weight;
    std::vector<float> bias;
    for (std::size_t step = 0; step < future; ++step) {
      const std::size_t k = i * future + step;
      for (std::size_t f = 0; f + 1 < features; ++f) {
        weight.push_back(static_cast<float>((*w)[k * features + f]));
      }
      weight.insert(weight.end(), static_cast<std::size_t>(others), 0.0F);
      bias.push_back(static_cast<float>((*w)[k * features + features - 1]));
    }
    const std::string name = linear_layer(static_cast<std::int64_t>(i));
    state.set(name + ".weight",
              Tensor(std::move(weight),
                     {record.future, static_cast<std::int64_t>(features - 1) + others}));
    state.set(name + ".bias", Tensor(std::move(bias), {record.future}));
  }
  return state;
}

}  // namespace linnet
