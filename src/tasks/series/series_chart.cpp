// SPDX-License-Identifier: Apache-2.0
#include "tasks/series/series_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "base/counted.h"
#include "html/html_plot.h"

namespace linnet {
namespace {

constexpr double kWidth = 1000;
constexpr double kHeight = 320;
constexpr double kLeft = 96;
constexpr double kRight = 16;
constexpr double kTop = 10;
constexpr double kBottom = 30;
constexpr std::int64_t kMostSteps = 140;
constexpr int kTimes = 5;

/// What is drawn: a step after the other, windows from left to right.
struct Drawn {
  std::int64_t future = 1;
  std::vector<std::string> times = {};
  std::vector<double> actual = {};
  std::vector<double> forecast = {};
  std::vector<double> naive = {};
};

Drawn last_windows(const SeriesWindows& windows, std::size_t target, std::int64_t season,
                   std::span<const double> forecasts, std::int64_t future) {
  Drawn drawn{.future = future};
  std::vector<std::int64_t> chosen;
  const std::int64_t most = std::max<std::int64_t>(1, kMostSteps / future);
  const std::string entity = windows.place(windows.size() - 1, 0).entity;
  std::string next;  // the first time of the window after
  for (std::int64_t i = windows.size() - 1; i >= 0 && std::ssize(chosen) < most; --i) {
    if (windows.place(i, 0).entity != entity) break;
    if (!chosen.empty() && chosen.back() - i < future) continue;
    chosen.push_back(i);
  }
  std::ranges::reverse(chosen);
  for (const std::int64_t window : chosen) {
    for (std::int64_t step = 0; step < future; ++step) {
      drawn.times.push_back(windows.place(window, step).time);
      drawn.actual.push_back(windows.actual(window, step, target));
      drawn.forecast.push_back(forecasts[static_cast<std::size_t>(window * future + step)]);
      const double seasonal = windows.seasonal_naive(window, step, target);
      drawn.naive.push_back(
          season > 1 && !std::isnan(seasonal) ? seasonal : windows.persistence(window, target));
    }
  }
  return drawn;
}

/// A step of 1, 2 or 5 times a power of ten, of which about five span the values.
double tick_of(double low, double high) {
  const double raw = std::max(high - low, 1e-12) / 5;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  const double ratio = raw / power;
  return power * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
}

class Chart {
 public:
  explicit Chart(const Drawn& drawn) : drawn_(drawn) {
    low_ = std::numeric_limits<double>::infinity();
    high_ = -low_;
    for (const std::vector<double>* of : {&drawn.actual, &drawn.forecast, &drawn.naive}) {
      low_ = std::min(low_, std::ranges::min(*of));
      high_ = std::max(high_, std::ranges::max(*of));
    }
    tick_ = tick_of(low_, high_);
    low_ = std::floor(low_ / tick_) * tick_;
    high_ = std::max(std::ceil(high_ / tick_) * tick_, low_ + tick_);
  }

  std::string svg(const std::string& name) const {
    std::string out =
        fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"forecasts of {}\">\n",
                    kWidth, kHeight, html_text(name));
    for (int i = 0; low_ + i * tick_ <= high_ + tick_ / 2; ++i) add_line(out, low_ + i * tick_);
    const auto steps = std::ssize(drawn_.times);
    for (int i = 0; i < kTimes && i < steps; ++i) {
      const std::int64_t at =
          i * (steps - 1) / std::max<std::int64_t>(1, std::min<std::int64_t>(kTimes, steps) - 1);
      const char* anchor = i == 0 ? "start" : i == kTimes - 1 ? "end" : "middle";
      out +=
          fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", x(at),
                      kHeight - 8, anchor, html_text(drawn_.times[static_cast<std::size_t>(at)]));
    }
    // Each window's forecast is a line of its own; the truth goes on.
    for (std::int64_t first = 0; first < steps; first += drawn_.future) {
      out += line(drawn_.naive, first, drawn_.future,
                  "style=\"stroke:var(--soft);stroke-width:1.25\"");
    }
    out += line(drawn_.actual, 0, steps, "class=\"train\"");
    for (std::int64_t first = 0; first < steps; first += drawn_.future) {
      out += line(drawn_.forecast, first, drawn_.future,
                  "class=\"held\" style=\"stroke-dasharray:none\"");
    }
    return out + "</svg>\n";
  }

 private:
  double x(std::int64_t step) const {
    const auto last = static_cast<double>(std::max<std::int64_t>(1, std::ssize(drawn_.times) - 1));
    return kLeft + static_cast<double>(step) / last * (kWidth - kLeft - kRight);
  }
  double y(double value) const {
    return kHeight - kBottom - (value - low_) / (high_ - low_) * (kHeight - kTop - kBottom);
  }
  void add_line(std::string& out, double value) const {
    out += fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>",
                       kLeft, kWidth - kRight, y(value), y(value));
    out += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 8,
                       y(value) + 4, tick_text(value, tick_));
  }
  /// A line of one step is a dot.
  std::string line(const std::vector<double>& values, std::int64_t first, std::int64_t count,
                   std::string_view style) const {
    std::string points;
    for (std::int64_t i = first; i < first + count; ++i) {
      points += fmt::format("{:.1f},{:.1f} ", x(i), y(values[static_cast<std::size_t>(i)]));
    }
    if (count == 1) points += points;
    return fmt::format("<polyline {} points=\"{}\"/>\n", style, points);
  }

  const Drawn& drawn_;
  double low_ = 0;
  double high_ = 1;
  double tick_ = 1;
};

}  // namespace

std::string series_chart(const SeriesWindows& windows, std::size_t target, const std::string& name,
                         std::int64_t season, std::span<const double> forecasts,
                         std::int64_t future) {
  const Drawn drawn = last_windows(windows, target, season, forecasts, future);
  const std::string entity = windows.place(windows.size() - 1, 0).entity;
  return fmt::format(
             "<section><h2>Forecasts of {}{}</h2>\n<p class=\"note\">The last {} of {} that do "
             "not overlap.</p>\n<div class=\"legend\"><span><i class=\"train\"></i>true"
             "</span><span><i class=\"held\" style=\"border-top-style:solid\"></i>forecast</span>"
             "<span><i style=\"border-top-color:var(--soft)\"></i>{}</span></div>\n",
             html_text(name), entity.empty() ? "" : ", " + html_text(entity),
             counted(std::ssize(drawn.times) / future, "window"), counted(future, "step"),
             season > 1 ? "seasonal naive" : "persistence") +
         "<div class=\"wide\">" + Chart(drawn).svg(name) + "</div></section>\n";
}

}  // namespace linnet
