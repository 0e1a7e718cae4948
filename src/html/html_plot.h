// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace linnet {

/// The grey of lines that are only compared with.
inline constexpr std::size_t kGreyColour = std::numeric_limits<std::size_t>::max();

/// Points of one colour in a plot. Those that are not finite are gaps.
struct ReportSeries {
  /// Bars stand at their points; the distance of the first two is their width.
  enum class Form : std::uint8_t { line, dashed, dots, bars };
  std::string name = {};  ///< in the legend; empty: not in it
  Form form = Form::line;
  std::size_t colour = 0;  ///< 0 to 9, then over again; or kGreyColour
  std::vector<std::array<double, 2>> points = {};
};

/// A plot of y over x.
struct ReportPlot {
  std::string title = {};
  std::string note = {};  ///< a sentence below the title; may be empty
  std::string x_name = {};
  std::string y_name = {};
  std::vector<ReportSeries> series = {};
  std::vector<std::string> x_texts = {};  ///< of x = 0, 1, ...; empty: x is a number
};

/// A table of texts; the first column stands at the left, the others at the right.
struct ReportTable {
  std::string title = {};
  std::string note = {};
  std::vector<std::string> header = {};
  std::vector<std::vector<std::string>> rows = {};
};

/// Horizontal bars of values, a name at each. Those below 0 have none.
struct ReportBars {
  std::string title = {};
  std::string note = {};
  std::vector<std::pair<std::string, double>> bars = {};
};

/// The plots, two beside each other where there is room, as sections with inline SVG; "" for none.
std::string plots_html(const std::vector<ReportPlot>& plots);
/// The tables as sections; "" for none.
std::string tables_html(const std::vector<ReportTable>& tables);
/// The bars as a section; "" for none.
std::string bars_html(const ReportBars& bars);
/// What the page's style sheet needs for them.
std::string plot_style();
/// The ten colours of series, as "#rrggbb".
std::vector<std::string_view> plot_colours();

/// Returns a written number with commas between its thousands where its whole part has at least so
/// many digits: "1,234.5". Five keep years and single numbers of an axis as they are.
std::string grouped(std::string number, std::size_t least_digits = 4);

/// Returns a measured value in four digits, grouped; from 10,000 on as a whole number.
std::string short_value(double value);

/// Text as HTML; control characters become blanks.
std::string html_text(std::string_view text);

/// Ticks at 1, 2 or 5 times a power of ten that span [low, high] in about six steps.
struct Ticks {
  double first = 0;
  double step = 1;
  int count = 1;
  double last() const { return first + step * (count - 1); }
  double at(int i) const { return first + step * i; }
};
Ticks ticks_over(double low, double high, double least_step);
/// A tick's number, with as many digits as its step needs.
std::string tick_text(double value, double step);

}  // namespace linnet
