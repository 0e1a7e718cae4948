// SPDX-License-Identifier: Apache-2.0
#include "html/html_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/utf8.h"

namespace linnet {
namespace {

// Two of them differ by at least 60 of 255 in red, green and blue together.
constexpr std::array<std::string_view, 10> kColour{"#2a78d6", "#ee7f0e", "#2f9e4f", "#d62f3a",
                                                   "#8a5cd0", "#8c5a3c", "#f08ac0", "#a8a814",
                                                   "#12b5cb", "#7fcf3b"};
constexpr std::size_t kLeastGrouped = 5;  // digits of an axis' number; years have four
constexpr double kMostWritten = 1e7;      // larger numbers of an axis have an exponent

constexpr double kWidth = 430;
constexpr double kAxis = 216;  // height of the y axis
constexpr double kLeft = 96;   // room for "-1,234,567" in the letters of a phone
constexpr double kRight = 24;
constexpr double kTop = 10;
constexpr double kBottom = 44;                   // room for a line of ticks and the name of x
constexpr double kLetter = 8.6;                  // in those of a phone
constexpr double kLine = 14;                     // distance of names that stand upright
constexpr std::size_t kMostLetters = 40;         // of an upright name
constexpr std::size_t kMostLettersOfAName = 30;  // of y, along its axis

std::string colour_class(std::size_t colour) {
  return colour == kGreyColour ? "kg" : fmt::format("k{}", colour % kColour.size());
}

bool finite(const std::array<double, 2>& point) {
  return std::isfinite(point[0]) && std::isfinite(point[1]);
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

std::size_t letters_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

std::string_view first_letters(std::string_view text, std::size_t count) {
  std::size_t end = 0;
  for (std::size_t letters = 0; end < text.size(); ++end) {
    if (begins_character(text[end]) && letters++ == count) break;
  }
  return text.substr(0, end);
}

std::string bar_figure(double value) {
  return grouped(fmt::format("{:.4g}", value), kLeastGrouped);
}

double bar_width(const ReportSeries& series) {
  return series.points.size() > 1 ? std::abs(series.points[1][0] - series.points[0][0]) : 1;
}

/// Draws one plot.
class Drawing {
 public:
  explicit Drawing(const ReportPlot& plot) : plot_(plot) {
    for (const ReportSeries& series : plot.series) {
      const bool bars = series.form == ReportSeries::Form::bars;
      const double half = bars ? bar_width(series) / 2 : 0;
      for (const auto& point : series.points) {
        if (!finite(point)) continue;
        x_range_.add(point[0] - half);
        x_range_.add(point[0] + half);
        y_range_.add(point[1]);
        if (bars) y_range_.add(0);
      }
    }
    if (empty()) return;
    x_ = ticks_over(x_range_.low, x_range_.high, 1e-300);
    if (!plot.x_texts.empty()) place_texts();
    y_ = ticks_over(y_range_.low, y_range_.high, 1e-300);
    if (!(x_range_.high > x_range_.low)) x_range_.high = x_range_.low + x_.step;
  }

  bool empty() const { return !(x_range_.low <= x_range_.high); }

  std::string html() const {
    std::string out = fmt::format("<section><h2>{}</h2>\n", html_text(plot_.title));
    if (!plot_.note.empty())
      out += fmt::format("<p class=\"note\">{}</p>\n", html_text(plot_.note));
    out += legend();
    if (letters_of(plot_.y_name) > kMostLettersOfAName)
      out += fmt::format("<p class=\"note\">Upwards: {}</p>\n", html_text(plot_.y_name));
    out += fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", kWidth,
                       height(), html_text(plot_.title));
    draw_axes(out);
    for (const ReportSeries& series : plot_.series) draw(out, series);
    return out + "</svg></section>\n";
  }

 private:
  double x(double value) const {
    return kLeft +
           (value - x_range_.low) / (x_range_.high - x_range_.low) * (kWidth - kLeft - kRight);
  }
  double y(double value) const {
    const double part = (value - y_.first) / (y_.last() - y_.first);
    return axis() - part * kAxis;
  }
  double axis() const { return kTop + kAxis; }  // where that of x lies
  double height() const { return axis() + bottom_; }

  /// Each text at its place: beside each other where they fit, else upright.
  void place_texts() {
    std::size_t longest = 0;
    for (const std::string& text : plot_.x_texts) longest = std::max(longest, letters_of(text));
    const auto count = static_cast<double>(plot_.x_texts.size());
    const double width = kWidth - kLeft - kRight;
    x_range_.add(-0.5);
    x_range_.add(count - 0.5);
    x_ = {0, 1, static_cast<int>(plot_.x_texts.size())};
    upright_ = kLetter * static_cast<double>(longest + 1) > width / count;
    if (!upright_) return;
    bottom_ = kBottom + kLetter * static_cast<double>(std::min(longest, kMostLetters));
    x_.step = std::max(1.0, std::ceil(count * kLine / width));
    x_.count = static_cast<int>(std::ceil(count / x_.step));
  }

  std::string legend() const {
    std::string out;
    for (const ReportSeries& series : plot_.series) {
      if (series.name.empty()) continue;
      out += fmt::format("<span><i class=\"{}\"></i>{}</span>", colour_class(series.colour),
                         html_text(series.name));
    }
    return out.empty() ? out : "<div class=\"legend names\">" + out + "</div>\n";
  }

  std::string x_text(int tick) const {
    if (plot_.x_texts.empty()) return html_text(tick_text(x_.at(tick), x_.step));
    const std::string& text = plot_.x_texts[static_cast<std::size_t>(std::llround(x_.at(tick)))];
    if (letters_of(text) <= kMostLetters) return html_text(text);
    return fmt::format("{}…<title>{}</title>", html_text(first_letters(text, kMostLetters - 1)),
                       html_text(text));
  }

  /// Returns where the middle of a tick's text stands: no letter beyond the right edge.
  static double middle_of(std::string_view text, double at) {
    return std::min(at, kWidth - kLetter * static_cast<double>(letters_of(text)) / 2);
  }

  void draw_axes(std::string& out) const {
    for (int i = 0; i < y_.count; ++i) {
      const double at = y(y_.at(i));
      out += fmt::format("<line class=\"{}\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>",
                         i == 0 ? "axis" : "grid", kLeft, kWidth - kRight, at, at);
      out += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 8,
                         at + 4, tick_text(y_.at(i), y_.step));
    }
    for (int i = 0; i < x_.count; ++i) {
      const double slack = 1e-9 * x_.step;
      if (x_.at(i) < x_range_.low - slack || x_.at(i) > x_range_.high + slack) continue;
      const double at = x(x_.at(i));
      out +=
          fmt::format("<line class=\"axis\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>",
                      at, axis(), axis() + 5);
      out += upright_
                 ? fmt::format(
                       "<text text-anchor=\"end\" transform=\"translate({:.1f} {}) "
                       "rotate(-90)\">{}</text>\n",
                       at + 4, axis() + 10, x_text(i))
                 : fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                               middle_of(x_text(i), at), axis() + 19, x_text(i));
    }
    out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                       (kLeft + kWidth - kRight) / 2, height() - 6, html_text(plot_.x_name));
    if (plot_.y_name.empty() || letters_of(plot_.y_name) > kMostLettersOfAName) return;
    const double middle = kTop + kAxis / 2;
    out += fmt::format(
        "<text x=\"16\" y=\"{0}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {0})\">{1}"
        "</text>\n",
        middle, html_text(plot_.y_name));
  }

  void draw(std::string& out, const ReportSeries& series) const {
    const std::string colour = colour_class(series.colour);
    std::string line;
    for (const auto& point : series.points) {
      if (!finite(point)) continue;
      const double cx = x(point[0]);
      const double cy = y(point[1]);
      if (series.form == ReportSeries::Form::dots) {
        out += fmt::format("<circle class=\"dot {}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\"/>", colour,
                           cx, cy);
      } else if (series.form == ReportSeries::Form::bars) {
        const double half = bar_width(series) / 2;
        const double base = y(std::clamp(0.0, y_.first, y_.last()));
        out += fmt::format(
            "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">"
            "<title>{}: {}</title></rect>\n",
            colour, x(point[0] - half) + 0.5, std::min(cy, base),
            std::max(x(point[0] + half) - x(point[0] - half) - 1, 0.5), std::abs(base - cy),
            bar_figure(point[0]), bar_figure(point[1]));
      } else {
        line += fmt::format("{:.1f},{:.1f} ", cx, cy);
      }
    }
    if (line.empty()) return;
    out += fmt::format("<polyline class=\"{}{}\" points=\"{}\"><title>{}</title></polyline>\n",
                       colour, series.form == ReportSeries::Form::dashed ? " dashed" : "", line,
                       html_text(series.name));
  }

  const ReportPlot& plot_;
  Range x_range_;
  Range y_range_;
  Ticks x_;
  Ticks y_;
  bool upright_ = false;  ///< names of categories
  double bottom_ = kBottom;
};

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

Ticks ticks_over(double low, double high, double least_step) {
  if (!(high > low)) high = low + std::max(least_step, std::abs(low) * 0.1 + 1e-6);
  const double raw = (high - low) / 6;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  const double ratio = raw / power;
  double step = power * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
  step = std::max(step, least_step);
  const double first = std::floor(low / step + 1e-9) * step;
  return {first, step, static_cast<int>(std::ceil((high - first) / step - 1e-9)) + 1};
}

std::string tick_text(double value, double step) {
  if (std::abs(value) < step * 1e-6) value = 0;  // not -0, nor what rounding leaves
  if (std::abs(value) >= kMostWritten || step < 1e-5) {
    // Down to the digit of the step, so that neighbours differ.
    const double size = std::max(std::abs(value), step);
    const double digits = std::floor(std::log10(size)) - std::floor(std::log10(step) + 1e-9) + 1;
    return fmt::format("{:.{}g}", value, static_cast<int>(std::clamp(digits, 3.0, 17.0)));
  }
  const int digits = static_cast<int>(std::max(0.0, std::ceil(-std::log10(step) - 1e-9)));
  return grouped(fmt::format("{:.{}f}", value, digits), kLeastGrouped);
}

std::string grouped(std::string number, std::size_t least_digits) {
  const std::size_t first = number.starts_with('-') ? 1 : 0;
  const std::size_t end = std::min(number.find_first_not_of("0123456789", first), number.size());
  if (end - first < least_digits) return number;
  for (std::size_t at = end; at > first + 3; at -= 3) number.insert(at - 3, 1, ',');
  return number;
}

std::string plots_html(const std::vector<ReportPlot>& plots) {
  std::string out;
  for (const ReportPlot& plot : plots) {
    const Drawing drawing(plot);
    if (!drawing.empty()) out += drawing.html();
  }
  return out.empty() ? out : "<div class=\"pair\">\n" + out + "</div>\n";
}

std::string short_value(double value) {
  const double size = std::abs(value);
  return grouped(size >= 1e4 && size < 1e15 ? fmt::format("{:.0f}", value)
                                            : fmt::format("{:.4g}", value));
}

std::string bars_html(const ReportBars& bars) {
  if (bars.bars.empty()) return {};
  std::string out = fmt::format("<section><h2>{}</h2>\n", html_text(bars.title));
  if (!bars.note.empty()) out += fmt::format("<p class=\"note\">{}</p>\n", html_text(bars.note));
  double most = 0;
  for (const auto& [name, value] : bars.bars) most = std::max(most, value);
  out += "<div class=\"bars\">\n";
  for (const auto& [name, value] : bars.bars) {
    const double part = most > 0 ? std::clamp(value / most, 0.0, 1.0) : 0;
    out += fmt::format("<span>{}</span><i><b style=\"width:{:.1f}%\"></b></i><span>{:.4f}</span>\n",
                       html_text(name), 100 * part, value);
  }
  return out + "</div></section>\n";
}

std::string tables_html(const std::vector<ReportTable>& tables) {
  std::string out;
  for (const ReportTable& table : tables) {
    if (table.rows.empty()) continue;
    out += fmt::format("<section><h2>{}</h2>\n", html_text(table.title));
    if (!table.note.empty())
      out += fmt::format("<p class=\"note\">{}</p>\n", html_text(table.note));
    out += "<div class=\"wide\"><table class=\"rows texts\"><thead><tr>";
    for (const std::string& name : table.header) out += fmt::format("<th>{}</th>", html_text(name));
    out += "</tr></thead><tbody>\n";
    for (const auto& row : table.rows) {
      out += "<tr>";
      for (const std::string& cell : row) out += fmt::format("<td>{}</td>", html_text(cell));
      out += "</tr>\n";
    }
    out += "</tbody></table></div></section>\n";
  }
  return out;
}

std::string plot_style() {
  std::string style =
      "polyline.dashed{stroke-dasharray:5 5;stroke-width:1.5}\n"
      "circle.dot{stroke:none;fill-opacity:.55}\n"
      ".legend.names{flex-wrap:wrap;gap:2px 18px}\n"
      ".texts th:first-child,.texts td:first-child{text-align:left;white-space:normal;"
      "min-width:6.5rem}\n"
      ".bars{display:grid;grid-template-columns:minmax(60px,max-content) 1fr max-content;"
      "gap:6px 12px;align-items:center;font-size:.85rem;font-variant-numeric:tabular-nums}\n"
      ".bars span{overflow-wrap:anywhere}.bars b{display:block;height:12px;border-radius:3px;"
      "background:var(--train)}\n";
  const auto add = [&](const std::string& name, std::string_view colour) {
    style += fmt::format(
        "polyline.{0}{{stroke:{1}}}circle.{0},rect.{0}{{fill:{1}}}"
        ".legend i.{0}{{border-top-color:{1}}}\n",
        name, colour);
  };
  for (std::size_t i = 0; i < kColour.size(); ++i) add(colour_class(i), kColour[i]);
  add(colour_class(kGreyColour), "var(--soft)");
  return style;
}

std::vector<std::string_view> plot_colours() { return {kColour.begin(), kColour.end()}; }

}  // namespace linnet
