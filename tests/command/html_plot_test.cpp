// SPDX-License-Identifier: Apache-2.0
#include "html/html_plot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace linnet {
namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

using Form = ReportSeries::Form;

TEST(HtmlPlot, NeighbouringTicksDiffer) {
  for (const double low : {0.0, 12.0, 9.99e5, 1e6, 1234567.0, 3.2e9, -4.0e7, 1e-9, 1.0}) {
    for (const double range : {1e-8, 1e-6, 0.003, 2.0, 5000.0, 7e6}) {
      if (range < 1e-12 * std::abs(low)) continue;  // neighbours are one number
      const Ticks ticks = ticks_over(low, low + range, 1e-300);
      for (int i = 1; i < ticks.count; ++i) {
        EXPECT_NE(tick_text(ticks.at(i), ticks.step), tick_text(ticks.at(i - 1), ticks.step))
            << low << ' ' << range;
      }
    }
  }
  EXPECT_EQ(tick_text(1e6, 1e6), "1,000,000");
  EXPECT_EQ(tick_text(-1.25e6, 5e4), "-1,250,000");
  EXPECT_EQ(tick_text(2e7, 1e7), "2e+07");
  EXPECT_EQ(tick_text(2007, 1), "2007");
  EXPECT_EQ(tick_text(12000.5, 0.5), "12,000.5");
}

TEST(HtmlPlot, ThousandsAreParted) {
  EXPECT_EQ(grouped("999"), "999");
  EXPECT_EQ(grouped("1000"), "1,000");
  EXPECT_EQ(grouped("-1234567.25"), "-1,234,567.25");
  EXPECT_EQ(grouped("1e+06"), "1e+06");
  EXPECT_EQ(grouped("9999", 5), "9999");
  EXPECT_EQ(grouped("–"), "–");
  EXPECT_EQ(grouped(""), "");
}

TEST(HtmlPlot, ShortValuesHaveFourDigitsOrAreWhole) {
  EXPECT_EQ(short_value(0.012341), "0.01234");
  EXPECT_EQ(short_value(1234.4), "1,234");
  EXPECT_EQ(short_value(-16251.7), "-16,252");
  EXPECT_EQ(short_value(3e20), "3e+20");
}

TEST(HtmlPlot, TenClassesHaveTenColours) {
  const std::vector<std::string_view> colours = plot_colours();
  ASSERT_EQ(colours.size(), 10U);
  const auto part = [](std::string_view colour, std::size_t i) {
    return std::stoi(std::string(colour.substr(1 + 2 * i, 2)), nullptr, 16);
  };
  for (std::size_t a = 0; a < colours.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      int distance = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        distance += std::abs(part(colours[a], i) - part(colours[b], i));
      }
      EXPECT_GE(distance, 60) << colours[a] << ' ' << colours[b];
    }
    const std::string name = "polyline.k" + std::to_string(a) + "{stroke:";
    EXPECT_TRUE(holds(plot_style(), name + std::string(colours[a])));
  }
}

TEST(HtmlPlot, BarsShowTheirShareOfTheLargest) {
  const std::string html =
      bars_html({.title = "t", .bars = {{"<a>", 0.5}, {"b", 0.25}, {"c", -1}}});
  EXPECT_TRUE(
      holds(html, "<span>&lt;a&gt;</span><i><b style=\"width:100.0%\"></b></i><span>0.5000"));
  EXPECT_TRUE(holds(html, "width:50.0%"));
  EXPECT_TRUE(holds(html, "width:0.0%\"></b></i><span>-1.0000"));
  EXPECT_EQ(bars_html({.title = "t"}), "");
}

TEST(HtmlPlot, DrawsEachFormOverItsRange) {
  ReportPlot plot{.title = "a & b", .note = "<note>", .x_name = "x", .y_name = "y"};
  plot.series = {{.name = "one", .form = Form::line, .colour = 1, .points = {{0, 0}, {10, 5}}},
                 {.form = Form::dots, .colour = 11, .points = {{5, 2.5}}},
                 {.form = Form::bars, .points = {{2, 1}, {4, 2}}}};
  const std::string html = plots_html({plot});
  EXPECT_TRUE(holds(html, "<h2>a &amp; b</h2>"));
  EXPECT_TRUE(holds(html, "<p class=\"note\">&lt;note&gt;</p>"));
  // x from 0 to 10 over 96 to 406; y from 0 to 5 over 226 to 10.
  EXPECT_TRUE(holds(html, "<polyline class=\"k1\" points=\"96.0,226.0 406.0,10.0 \">"));
  EXPECT_TRUE(holds(html, "<circle class=\"dot k1\" cx=\"251.0\" cy=\"118.0\" r=\"2\"/>"));
  EXPECT_TRUE(holds(html, "<title>4: 2</title>"));
  EXPECT_TRUE(holds(html, "<i class=\"k1\"></i>one"));
}

TEST(HtmlPlot, LeavesOutWhatIsNotFiniteOrEmpty) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string html =
      plots_html({{.title = "gaps", .series = {{.points = {{0, 1}, {nan, 2}, {2, nan}, {3, 4}}}}},
                  {.title = "nothing", .series = {{.points = {{nan, nan}}}}}});
  EXPECT_FALSE(holds(html, "nan"));
  EXPECT_FALSE(holds(html, "nothing"));
  EXPECT_EQ(plots_html({}), "");
  const std::string one = plots_html({{.title = "one", .series = {{.points = {{7, 7}}}}}});
  EXPECT_FALSE(holds(one, "inf"));
  EXPECT_FALSE(holds(one, "nan"));
}

/// The plot of as many bars as there are names.
std::string bars(const std::vector<std::string>& names) {
  ReportPlot plot{.title = "t", .series = {{.form = Form::bars}}, .x_texts = names};
  for (std::size_t i = 0; i < names.size(); ++i) {
    plot.series[0].points.push_back({static_cast<double>(i), 1.0});
  }
  return plots_html({plot});
}

TEST(HtmlPlot, CategoriesAreNamedAtTheirPlaces) {
  const std::string narrow = bars({"<red>", "green"});
  EXPECT_TRUE(holds(narrow, "text-anchor=\"middle\">&lt;red&gt;</text>"));
  EXPECT_FALSE(holds(narrow, "rotate(-90)"));
  EXPECT_TRUE(holds(narrow, "viewBox=\"0 0 430 270\""));
  // Names that do not fit beside each other stand upright, and are as long as they are.
  const std::string name = "ein Name, größer als sein Platz im Bild";  // 39 letters
  const std::string wide = bars({"red", name});
  EXPECT_TRUE(holds(wide, "rotate(-90)\">red</text>"));
  EXPECT_TRUE(holds(wide, "rotate(-90)\">" + name + "</text>"));
  EXPECT_TRUE(holds(wide, "viewBox=\"0 0 430 605.4\"")) << 226 + 44 + 39 * 8.6;
  const std::string longer = bars({"red", name + ", zu lang"});
  EXPECT_TRUE(holds(longer, ">" + name + "…<title>" + name + ", zu lang</title></text>"));
}

TEST(HtmlPlot, ANameHasRoomOnBothSidesOfItsPlace) {
  const std::string html = plots_html(
      {{.title = "t", .series = {{.points = {{0, 1}, {1, 3}}}}, .x_texts = {"first", "second"}}});
  EXPECT_TRUE(holds(html, "points=\"173.5,"));  // a quarter and three quarters of 96 to 406
  EXPECT_TRUE(holds(html, "<text x=\"328.5\" y=\"245\" text-anchor=\"middle\">second</text>"));
}

TEST(HtmlPlot, EveryCategoryIsNamedWhileThereIsRoom) {
  std::vector<std::string> names;
  for (int i = 0; i < 22; ++i) names.push_back("kind " + std::to_string(i));
  const std::string all = bars(names);
  for (const std::string& name : names) EXPECT_TRUE(holds(all, ">" + name + "</text>")) << name;
  names.push_back("one more");
  const std::string every_second = bars(names);
  EXPECT_TRUE(holds(every_second, ">kind 20</text>"));
  EXPECT_FALSE(holds(every_second, ">kind 21</text>"));
}

TEST(HtmlPlot, ALongNameOfTheValuesStandsAboveThePlot) {
  const std::string name = "a_column_whose_name_is_longer_than_the_axis";
  ReportPlot plot{.title = "t", .y_name = name, .series = {{.points = {{0, 1}, {1, 2}}}}};
  EXPECT_TRUE(holds(plots_html({plot}), "<p class=\"note\">Upwards: " + name + "</p>"));
  EXPECT_FALSE(holds(plots_html({plot}), name + "</text>"));
}

TEST(HtmlPlot, TableCellsAreEscaped) {
  EXPECT_TRUE(holds(tables_html({{.title = "t", .header = {"a<"}, .rows = {{"<b>"}}}}),
                    "<th>a&lt;</th></tr></thead><tbody>\n<tr><td>&lt;b&gt;</td></tr>"));
  EXPECT_EQ(tables_html({{.title = "t"}}), "");
}

}  // namespace
}  // namespace linnet
