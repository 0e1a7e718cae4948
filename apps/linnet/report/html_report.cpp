// SPDX-License-Identifier: Apache-2.0
#include "report/html_report.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "html/html_plot.h"

namespace linnet {
namespace {

constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--ink:#16191f;
--soft:#5c6470;--line:#dfe3e8;
--train:#2a78d6;--held:#d9541e;--good:42,120,214;--bad:217,84,30}
@media(prefers-color-scheme:dark){:root{--page:#101318;--card:#191d24;--ink:#e8ebf0;--soft:#9aa3b0;
--line:#2c323c;--train:#5b9df0;--held:#f08a4f;--good:60,130,225;--bad:226,104,52}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1080px;margin:0 auto;padding:28px 16px 56px}
h1{font-size:1.7rem;line-height:1.2;margin:0;overflow-wrap:anywhere}
h2{font-size:1.05rem;margin:0 0 12px}
h2,dt,.note,.legend span{overflow-wrap:anywhere}
.subtitle{color:var(--soft);margin:4px 0 20px;overflow-wrap:anywhere}
.pair{display:grid;gap:16px;grid-template-columns:repeat(auto-fill,minmax(min(100%,400px),1fr))}
section{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:18px;
margin-bottom:16px;min-width:0}
.pair section{margin-bottom:0}.pair{margin-bottom:16px}
dl{display:grid;gap:12px 24px;grid-template-columns:repeat(auto-fill,minmax(150px,1fr));margin:0}
dt{color:var(--soft);font-size:.8rem}
dd{margin:0;font-weight:600;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
svg{display:block;width:100%;height:auto}
svg text{fill:var(--soft);font-size:12.5px;font-variant-numeric:tabular-nums}
.grid{stroke:var(--line)}.axis{stroke:var(--soft)}
.train{stroke:var(--train)}.held{stroke:var(--held)}
polyline{fill:none;stroke-width:2.25;stroke-linejoin:round;stroke-linecap:round}
polyline.held{stroke-dasharray:7 5}
circle{stroke-width:2;fill:var(--card)}
circle.partial{stroke-dasharray:2 2}
@media(max-width:480px){svg text{font-size:15px}section{padding:14px 10px}}
summary{cursor:pointer;color:var(--soft);font-size:.85rem}
.legend{display:flex;gap:18px;color:var(--soft);font-size:.85rem;margin-bottom:4px}
.legend i{display:inline-block;width:22px;margin-right:6px;vertical-align:middle;
border-top:3px solid var(--train)}
.legend i.held{border-top:3px dashed var(--held)}
.wide{overflow-x:auto;
background:linear-gradient(90deg,var(--card) 50%,transparent) left/48px 100%,
linear-gradient(-90deg,var(--card) 50%,transparent) right/48px 100%,
radial-gradient(farthest-side at 0 50%,rgba(var(--good),.55),transparent) left/18px 100%,
radial-gradient(farthest-side at 100% 50%,rgba(var(--good),.55),transparent) right/18px 100%;
background-repeat:no-repeat;background-attachment:local,local,scroll,scroll}
.wide>svg{min-width:720px}
table{border-collapse:separate;border-spacing:2px;font-size:.85rem;
font-variant-numeric:tabular-nums}
.matrix td{min-width:40px;height:32px;text-align:center;border-radius:4px;padding:0 4px}
.matrix.dense td{min-width:10px;width:10px;height:12px;padding:0;border-radius:1px}
.matrix.dense{font-size:.6rem;border-spacing:1px}
.matrix th{font-weight:400;color:var(--soft);text-align:right;padding:0 8px 0 0;white-space:nowrap}
.matrix thead th{writing-mode:vertical-rl;transform:rotate(180deg);text-align:left;padding:8px 0 0}
.matrix .strong{color:#fff}.zero{color:transparent}
td.recall{color:var(--soft);padding-left:12px}
.rows th,.rows td{text-align:right;padding:4px 14px 4px 0;white-space:nowrap}
.rows th{color:var(--soft);font-weight:400}
.images{display:grid;gap:12px;grid-template-columns:repeat(auto-fill,minmax(104px,1fr))}
figure{margin:0;font-size:.78rem;line-height:1.35}
figure img{display:block;width:100%;aspect-ratio:1;object-fit:contain;image-rendering:pixelated;
background:#0002;border-radius:6px;margin-bottom:4px}
figcaption b{color:var(--held)}
.note{color:var(--soft);font-size:.85rem;margin:0 0 12px}
.verdict{font-size:1.1rem;margin:12px 0 20px;padding:12px 16px;border-radius:12px;overflow-wrap:anywhere;
background:rgba(var(--good),.1);border-left:5px solid rgb(var(--good))}
.verdict.warns{background:rgba(var(--bad),.12);border-color:rgb(var(--bad))}
.notes{margin:0;padding-left:20px;overflow-wrap:anywhere}
blockquote{margin:0 0 14px;overflow-wrap:anywhere}
blockquote b{color:var(--held)}blockquote footer{font-size:.85rem}
footer{color:var(--soft);font-size:.8rem}
)css";

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const bool there = i + k < bytes.size();
      word = word << 8 | (there ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += i + k <= bytes.size() ? kDigits[word >> (18 - 6 * k) & 63] : '=';
    }
  }
  return out;
}

std::string percent(double part) {
  return std::isfinite(part) ? fmt::format("{:.2f} %", 100 * part) : std::string("–");
}

std::string figure(double value) {
  return std::isfinite(value) ? fmt::format("{:.4f}", value) : std::string("–");
}

struct Curve {
  std::string_view style;
  std::string label;
  double ReportEpoch::*value;
};

/// A chart of one or two curves over the epochs, as inline SVG.
class Chart {
 public:
  Chart(const std::vector<ReportEpoch>& epochs, std::string title, bool percents)
      : epochs_(epochs), title_(std::move(title)), percents_(percents) {}

  void add(Curve curve) {
    const bool any = std::any_of(epochs_.begin(), epochs_.end(), [&](const ReportEpoch& e) {
      return std::isfinite(e.*curve.value);
    });
    if (any) curves_.push_back(std::move(curve));
  }

  bool empty() const { return curves_.empty(); }

  std::string html() {
    span();
    std::string out =
        fmt::format("<section><h2>{}{}</h2>\n<div class=\"legend\">", html_text(title_),
                    scale_ == Scale::logarithmic ? " (log scale)" : "");
    for (const Curve& c : curves_) {
      out += fmt::format("<span><i class=\"{}\"></i>{}</span>", c.style, html_text(c.label));
    }
    if (cut_ > 0) out += fmt::format("<span>{} above the chart</span>", cut_);
    out += fmt::format(
        "</div>\n<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{} over epochs\">\n", kWidth,
        kHeight, html_text(title_));
    draw_axes(out);
    for (const Curve& c : curves_) draw(out, c);
    return out + "</svg></section>\n";
  }

 private:
  static constexpr double kWidth = 430;
  static constexpr double kHeight = 270;
  static constexpr double kLeastLeft = 56;
  static constexpr double kLeastRight = 14;
  static constexpr double kDigit = 8.6;        // a digit's width
  static constexpr double kDwarfs = 10;        // times the median: such a value hides the others
  static constexpr std::size_t kMarkers = 40;  // of a curve
  static constexpr double kTop = 10;
  static constexpr double kBottom = 44;

  enum class Scale : std::uint8_t { linear, logarithmic };

  std::vector<double> values() const {
    std::vector<double> all;
    for (const Curve& c : curves_) {
      for (const ReportEpoch& e : epochs_) {
        if (std::isfinite(e.*c.value)) all.push_back(e.*c.value);
      }
    }
    std::ranges::sort(all);
    return all;
  }

  /// A first epoch that dwarfs the rest makes the scale logarithmic; of values at or below zero,
  /// the largest are left out.
  void span() {
    const std::vector<double> all = values();
    double low = all.front();
    double high = all.back();
    const double middle = all[all.size() / 2];
    const bool dwarfs = !percents_ && all.size() > 4 && high > kDwarfs * std::abs(middle);
    if (dwarfs && low > 0) {
      scale_ = Scale::logarithmic;
      low_ = std::floor(std::log10(low));
      high_ = std::max(std::ceil(std::log10(high)), low_ + 1);
    } else if (dwarfs) {
      high = all[(all.size() - 1) * 9 / 10];
      cut_ = all.end() - std::ranges::upper_bound(all, high);
    }
    // A loss near zero is read against zero; an accuracy keeps its detail near the top.
    if (!percents_ && low > 0 && low < 0.5 * high) low = 0;
    y_ = ticks_over(low, high, percents_ ? 0.001 : 1e-9);
    x_ = ticks_over(static_cast<double>(epochs_.front().epoch),
                    static_cast<double>(epochs_.back().epoch), 1);
    x_low_ = static_cast<double>(epochs_.front().epoch);
    x_high_ = std::max(static_cast<double>(epochs_.back().epoch), x_low_ + 1);
    if (scale_ == Scale::linear) {
      low_ = y_.first;
      high_ = y_.last();
    }
    std::size_t longest = 0;
    for (const double value : y_ticks()) longest = std::max(longest, label(value).size());
    left_ = std::max(kLeastLeft, kDigit * static_cast<double>(longest) + 12);
    right_ = std::max(kLeastRight,
                      kDigit / 2 * static_cast<double>(fmt::format("{}", x_high_).size()) + 2);
  }

  std::vector<double> y_ticks() const {
    std::vector<double> ticks;
    if (scale_ == Scale::logarithmic) {
      const double step = std::max(1.0, std::ceil((high_ - low_) / 6));
      for (double power = low_; power <= high_; power += step) ticks.push_back(std::pow(10, power));
      return ticks;
    }
    for (int i = 0; i < y_.count; ++i) ticks.push_back(y_.at(i));
    return ticks;
  }

  double x(double epoch) const {
    return left_ + (epoch - x_low_) / (x_high_ - x_low_) * (kWidth - left_ - right_);
  }
  double y(double value) const {
    if (scale_ == Scale::logarithmic) value = std::log10(value);
    const double part = (value - low_) / (high_ - low_);
    return std::max(kTop - 6, kHeight - kBottom - part * (kHeight - kTop - kBottom));
  }

  std::string label(double value) const {
    if (percents_) return fmt::format("{:.{}f} %", 100 * value, y_.step < 0.0095 ? 1 : 0);
    if (scale_ == Scale::logarithmic) return fmt::format("{:g}", value);
    return tick_text(value, y_.step);
  }

  void draw_axes(std::string& out) const {
    bool first = true;
    for (const double tick : y_ticks()) {
      const double at = y(tick);
      out += fmt::format(
          "<line class=\"{}\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>",
          std::exchange(first, false) ? "axis" : "grid", left_, kWidth - right_, at, at);
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                         left_ - 8, at + 4, label(tick));
    }
    for (int i = 0; i < x_.count; ++i) {
      const double epoch = x_.at(i);
      if (epoch < x_low_ || epoch > static_cast<double>(epochs_.back().epoch)) continue;
      const double at = x(epoch);
      out +=
          fmt::format("<line class=\"axis\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>",
                      at, kHeight - kBottom, kHeight - kBottom + 5);
      out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", at,
                         kHeight - kBottom + 19, epoch);
    }
    out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">epoch</text>\n",
                       (left_ + kWidth - right_) / 2, kHeight - 6);
  }

  void draw(std::string& out, const Curve& curve) const {
    std::string line;
    std::string dots;
    const std::size_t every = (epochs_.size() + kMarkers - 1) / kMarkers;
    for (std::size_t i = 0; i < epochs_.size(); ++i) {
      const ReportEpoch& e = epochs_[i];
      const double value = e.*curve.value;
      if (!std::isfinite(value)) continue;
      const double cx = x(static_cast<double>(e.epoch));
      line += fmt::format("{:.1f},{:.1f} ", cx, y(value));
      if (i % every != 0 && i + 1 != epochs_.size()) continue;
      dots += fmt::format(
          "<circle class=\"{}{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"><title>epoch {}{}, {}: "
          "{}</title>"
          "</circle>\n",
          curve.style, e.partial ? " partial" : "", cx, y(value), e.epoch,
          e.partial ? " (partial)" : "", html_text(curve.label),
          percents_ ? percent(value) : figure(value));
    }
    out += fmt::format("<polyline class=\"{}\" points=\"{}\"/>\n", curve.style, line) + dots;
  }

  const std::vector<ReportEpoch>& epochs_;
  std::string title_;
  bool percents_;
  std::vector<Curve> curves_;
  Ticks x_;
  Ticks y_;
  double x_low_ = 1;
  double x_high_ = 2;
  Scale scale_ = Scale::linear;
  double low_ = 0;  ///< of the axis; of its logarithm, where the scale is logarithmic
  double high_ = 1;
  std::ptrdiff_t cut_ = 0;  ///< values above the axis
  double left_ = kLeastLeft;
  double right_ = kLeastRight;
};

std::string facts_html(const Report& report) {
  if (report.facts.empty()) return {};
  std::string out = "<section><h2>Training and machine</h2>\n<dl>\n";
  for (const auto& [key, value] : report.facts) {
    out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", html_text(key), html_text(value));
  }
  return out + "</dl></section>\n";
}

std::string verdict_html(const Report& report) {
  if (report.verdict.empty()) return {};
  return fmt::format("<p class=\"verdict{}\">{}</p>\n", report.warns ? " warns" : "",
                     html_text(report.verdict));
}

std::string notes_html(const Report& report) {
  if (report.notes.empty()) return {};
  std::string out = "<section><h2>Notes</h2>\n<ul class=\"notes\">\n";
  for (const std::string& note : report.notes) {
    out += fmt::format("<li>{}</li>\n", html_text(note));
  }
  return out + "</ul></section>\n";
}

std::string curves_html(const Report& report) {
  if (report.epochs.empty()) return {};
  Chart loss(report.epochs, "Loss", false);
  loss.add({"train", "training", &ReportEpoch::train_loss});
  loss.add({"held", report.held_out, &ReportEpoch::test_loss});
  Chart accuracy(report.epochs, "Accuracy", true);
  accuracy.add({"train", "training", &ReportEpoch::train_accuracy});
  accuracy.add({"held", report.held_out, &ReportEpoch::test_accuracy});
  std::string out = "<div class=\"pair\">\n";
  if (!loss.empty()) out += loss.html();
  if (!accuracy.empty()) out += accuracy.html();
  return out + "</div>\n";
}

std::string confusion_html(const Report& report) {
  const std::size_t classes = report.class_names.size();
  require(report.confusion.empty() || report.confusion.size() == classes * classes,
          "expected a confusion matrix of ({0}, {0}) for {0} class names; got {1} counts", classes,
          report.confusion.size());
  if (report.confusion.empty()) return {};
  const bool dense = classes > 24;
  std::string out = fmt::format(
      "<section><h2>Confusion matrix ({})</h2>\n"
      "<p class=\"note\">Rows: true class. Columns: predicted class. Last column: share of the row "
      "that is right (recall).</p>\n"
      "<div class=\"wide\"><table class=\"matrix{}\"><thead><tr><td></td>",
      html_text(report.measured), dense ? " dense" : "");
  for (const std::string& name : report.class_names) {
    out += fmt::format("<th>{}</th>", html_text(name));
  }
  out += "</tr></thead><tbody>\n";
  for (std::size_t row = 0; row < classes; ++row) {
    const auto begin = report.confusion.begin() + static_cast<std::ptrdiff_t>(row * classes);
    const auto total =
        std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(classes), std::int64_t{0});
    out += fmt::format("<tr><th>{}</th>", html_text(report.class_names[row]));
    for (std::size_t column = 0; column < classes; ++column) {
      const std::int64_t count = begin[static_cast<std::ptrdiff_t>(column)];
      const double part = total > 0 ? static_cast<double>(count) / static_cast<double>(total) : 0;
      // Errors are few: the square root lets a share of 1 % still be seen.
      const double shade = row == column ? part : std::sqrt(part);
      const char* text = shade > 0.6 ? " class=\"strong\"" : count == 0 ? " class=\"zero\"" : "";
      out += fmt::format(
          "<td{} style=\"background:rgba(var(--{}),{:.2f})\" title=\"{} predicted as {}: {}\">",
          text, row == column ? "good" : "bad", 0.04 + 0.9 * shade,
          html_text(report.class_names[row]), html_text(report.class_names[column]), count);
      out += dense ? "</td>" : fmt::format("{}</td>", grouped(std::to_string(count)));
    }
    const double right = total > 0 ? static_cast<double>(begin[static_cast<std::ptrdiff_t>(row)]) /
                                         static_cast<double>(total)
                                   : std::numeric_limits<double>::quiet_NaN();
    out += dense ? "</tr>\n" : fmt::format("<td class=\"recall\">{}</td></tr>\n", percent(right));
  }
  return out + "</tbody></table></div></section>\n";
}

std::string images_html(const Report& report) {
  if (report.worst_images.empty()) return {};
  std::string out = fmt::format(
      "<section><h2>Worst mistakes</h2>\n"
      "<p class=\"note\">Images with the highest probability of a wrong class: {}.</p>\n"
      "<div class=\"images\">\n",
      report.worst_images.size());
  for (const ReportImage& image : report.worst_images) {
    out += fmt::format(
        "<figure><img alt=\"{0}\" src=\"data:image/png;base64,{1}\"><figcaption>{0}, taken for "
        "<b>{2}</b><br>{3}</figcaption></figure>\n",
        html_text(image.truth), base64(image.png), html_text(image.predicted),
        percent(image.probability));
  }
  return out + "</div></section>\n";
}

/// Columns of accuracies stand there for a classifier alone.
std::string texts_html(const Report& report) {
  if (report.worst_texts.empty()) return {};
  std::string out = fmt::format(
      "<section><h2>Worst mistakes</h2>\n"
      "<p class=\"note\">Texts with the highest probability of a wrong class: {}.</p>\n",
      report.worst_texts.size());
  for (const ReportText& one : report.worst_texts) {
    out += fmt::format("<blockquote>{}<footer>{}, predicted <b>{}</b> ({})</footer></blockquote>\n",
                       html_text(one.text), html_text(one.truth), html_text(one.predicted),
                       percent(one.probability));
  }
  return out + "</section>\n";
}

std::string epochs_html(const Report& report) {
  if (report.epochs.empty()) return {};
  const bool accurate =
      std::any_of(report.epochs.begin(), report.epochs.end(), [](const ReportEpoch& e) {
        return std::isfinite(e.train_accuracy) || std::isfinite(e.test_accuracy);
      });
  const std::string held_out = html_text(report.held_out);
  const auto pair = [&](std::string_view tag, const std::string& loss,
                        const std::string& accuracy) {
    return fmt::format("<{0}>{1}</{0}>", tag, loss) +
           (accurate ? fmt::format("<{0}>{1}</{0}>", tag, accuracy) : std::string());
  };
  std::string out =
      "<section><h2>Epochs</h2>\n<div class=\"wide\"><table class=\"rows\"><thead><tr>"
      "<th>epoch</th>";
  out += pair("th", "training loss", "training accuracy") +
         pair("th", held_out + " loss", held_out + " accuracy") +
         "<th>seconds</th><th>samples/s</th></tr></thead><tbody>\n";
  const std::string head = out;
  constexpr std::size_t kShown = 15;  // more are folded, but for the last ones
  const bool folds = report.epochs.size() > kShown;
  const std::size_t first = folds ? report.epochs.size() - kShown + 5 : 0;
  const auto rows = [&](std::size_t begin) {
    std::string text;
    for (std::size_t i = begin; i < report.epochs.size(); ++i) {
      const ReportEpoch& e = report.epochs[i];
      text += fmt::format("<tr><td>{}{}</td>{}{}<td>{:.3f}</td><td>{}</td></tr>\n", e.epoch,
                          e.partial ? " (partial)" : "",
                          pair("td", figure(e.train_loss), percent(e.train_accuracy)),
                          pair("td", figure(e.test_loss), percent(e.test_accuracy)), e.seconds,
                          grouped(fmt::format("{:.0f}", e.samples_per_second)));
    }
    return text + "</tbody></table></div>";
  };
  out += rows(first);
  if (folds) {
    const std::string table = head.substr(head.find("<div"));
    out += fmt::format("<details><summary>All {} epochs</summary>{}{}</details>",
                       report.epochs.size(), table, rows(0));
  }
  return out + "</section>\n";
}

}  // namespace

std::string page_style() { return std::string(kStyle) + plot_style(); }

std::string html_report(const Report& report) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>";
  out += html_text(report.title) + "</title>\n<style>" + page_style() + "</style>\n</head>\n";
  out += fmt::format("<body><main>\n<h1>{}</h1>\n<p class=\"subtitle\">{}</p>\n",
                     html_text(report.title), html_text(report.subtitle));
  // What was asked, how it was learned, and last what is of the machine.
  out += verdict_html(report) + tables_html({report.rivals}) + bars_html(report.importance) +
         report.sections + notes_html(report) + curves_html(report) + plots_html(report.plots) +
         tables_html(report.tables) + confusion_html(report) + images_html(report) +
         texts_html(report) + facts_html(report) + epochs_html(report);
  return out + "<footer>Written by Linnet.</footer>\n</main></body>\n</html>\n";
}

}  // namespace linnet
