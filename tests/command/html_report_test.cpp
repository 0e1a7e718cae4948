// SPDX-License-Identifier: Apache-2.0
#include "report/html_report.h"

#include <gtest/gtest.h>
#include <linnet/error.h>

#include <string>
#include <vector>

namespace linnet {
namespace {

/// Returns how often `part` stands in `text`.
int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++found;
  return found;
}

bool holds(const std::string& text, const std::string& part) { return count(text, part) > 0; }

Report three_epochs() {
  Report report;
  report.title = "mnist-cnn";
  for (std::int64_t epoch = 1; epoch <= 3; ++epoch) {
    report.epochs.push_back({.epoch = epoch,
                             .train_loss = 0.9 / static_cast<double>(epoch),
                             .train_accuracy = 0.7 + 0.05 * static_cast<double>(epoch),
                             .test_loss = 1.0 / static_cast<double>(epoch),
                             .test_accuracy = 0.6 + 0.1 * static_cast<double>(epoch),
                             .seconds = 1.5,
                             .samples_per_second = 40000});
  }
  return report;
}

TEST(HtmlReport, IsAWholePageEvenIfEmpty) {
  const std::string html = html_report({.title = "nothing yet"});
  EXPECT_EQ(html.rfind("<!DOCTYPE html>", 0), 0U);
  EXPECT_TRUE(holds(html, "<title>nothing yet</title>"));
  EXPECT_TRUE(html.ends_with("</html>\n"));
  EXPECT_EQ(count(html, "<section>"), 0);
}

TEST(HtmlReport, SaysFirstWhatWasAskedAndLastWhatIsOfTheMachine) {
  Report report = three_epochs();
  report.verdict = "The model <is> good.";
  report.rivals = {.title = "Result", .header = {"answer"}, .rows = {{"model"}}};
  report.importance = {.title = "What matters most", .bars = {{"x", 1}}};
  report.notes = {"a note"};
  report.facts = {{"seed", "0"}};
  const std::string html = html_report(report);
  std::size_t at = 0;
  for (const char* part :
       {"<p class=\"verdict\">The model &lt;is&gt; good.</p>", "<h2>Result</h2>",
        "<h2>What matters most</h2>", "<h2>Notes</h2>\n<ul class=\"notes\">\n<li>a note",
        "<h2>Loss</h2>", "<h2>Training and machine</h2>", "<h2>Epochs</h2>"}) {
    const std::size_t found = html.find(part);
    ASSERT_NE(found, std::string::npos) << part;
    EXPECT_GT(found, at) << part;
    at = found;
  }
  report.warns = true;
  EXPECT_TRUE(holds(html_report(report), "<p class=\"verdict warns\">"));
  EXPECT_TRUE(holds(html, "<td>40,000</td>"));  // samples a second
}

TEST(HtmlReport, ShowsTheWorstTexts) {
  Report report;
  report.worst_texts = {{"a <b> film", "pos", "neg", 0.875}};
  EXPECT_TRUE(holds(html_report(report),
                    "<blockquote>a &lt;b&gt; film<footer>pos, predicted <b>neg</b> (87.50 %)"));
}

TEST(HtmlReport, NeedsNothingFromElsewhere) {
  Report report = three_epochs();
  report.worst_images = {{"PNG", "cat", "dog", 0.9}};
  const std::string html = html_report(report);
  for (const char* forbidden : {"<script", "http:", "https:", "<link", "@import", "url("}) {
    EXPECT_FALSE(holds(html, forbidden)) << forbidden;
  }
  EXPECT_TRUE(holds(html, "prefers-color-scheme:dark"));
  EXPECT_TRUE(holds(html, "name=\"viewport\""));
}

TEST(HtmlReport, EscapesAllText) {
  Report report;
  report.title = "<a> & \"b\"";
  report.subtitle = "it's";
  report.facts = {{"<key>", "</dd><script>"}};
  report.class_names = {"<x>"};
  report.confusion = {1};
  report.worst_images = {{"", "\"><b>", "<i>", 1}};
  const std::string html = html_report(report);
  EXPECT_TRUE(holds(html, "<h1>&lt;a&gt; &amp; &quot;b&quot;</h1>"));
  EXPECT_TRUE(holds(html, "it&#39;s"));
  for (const char* raw : {"<key>", "<script>", "<x>", "\"><b>", "<i>"}) {
    EXPECT_FALSE(holds(html, raw)) << raw;
  }
}

TEST(HtmlReport, DrawsTwoCurvesInEachChart) {
  const std::string html = html_report(three_epochs());
  EXPECT_EQ(count(html, "<svg"), 2);
  EXPECT_EQ(count(html, "<polyline class=\"train\""), 2);
  EXPECT_EQ(count(html, "<polyline class=\"held\""), 2);
  EXPECT_EQ(count(html, "<circle"), 12);
  EXPECT_TRUE(holds(html, "epoch 3, test: 0.3333"));
  EXPECT_TRUE(holds(html, "epoch 1, training: 75.00 %"));
  EXPECT_TRUE(holds(html, "<th>training accuracy</th>"));
}

TEST(HtmlReport, LeavesOutWhatWasNotMeasured) {
  Report report = three_epochs();
  for (ReportEpoch& epoch : report.epochs) {
    epoch.train_accuracy = epoch.test_accuracy = epoch.test_loss = ReportEpoch::kNone;
  }
  const std::string html = html_report(report);
  EXPECT_EQ(count(html, "<svg"), 1);
  EXPECT_EQ(count(html, "<polyline"), 1);
  EXPECT_FALSE(holds(html, "accuracy</th>"));
  EXPECT_FALSE(holds(html, "nan"));
}

TEST(HtmlReport, AnEpochThatWasNotTestedIsAGap) {
  Report report = three_epochs();
  report.epochs[1].test_loss = ReportEpoch::kNone;
  const std::string html = html_report(report);
  EXPECT_EQ(count(html, "<circle"), 11);
  EXPECT_FALSE(holds(html, "nan"));
}

Report many_epochs(int count, double first_loss) {
  Report report;
  for (int epoch = 1; epoch <= count; ++epoch) {
    report.epochs.push_back({.epoch = epoch,
                             .train_loss = epoch == 1 ? first_loss : 1.0 / epoch,
                             .seconds = 1,
                             .samples_per_second = 1});
  }
  return report;
}

TEST(HtmlReport, ManyEpochsAreFoldedAndHaveFewMarkers) {
  const std::string html = html_report(many_epochs(200, 1));
  EXPECT_EQ(count(html, "<circle"), 41);
  EXPECT_EQ(count(html, "<summary>All 200 epochs</summary>"), 1);
  EXPECT_EQ(count(html, "<tr><td>"), 200 + 10);
  EXPECT_EQ(count(html_report(many_epochs(12, 1)), "<details>"), 0);
}

TEST(HtmlReport, AFirstEpochThatDwarfsTheRestMakesTheScaleLogarithmic) {
  EXPECT_TRUE(holds(html_report(many_epochs(10, 5000)), "<h2>Loss (log scale)</h2>"));
  EXPECT_FALSE(holds(html_report(many_epochs(10, 1)), "log scale"));
  Report below_zero = many_epochs(10, 5000);
  below_zero.epochs[4].train_loss = -0.5;
  const std::string html = html_report(below_zero);
  EXPECT_FALSE(holds(html, "log scale"));
  EXPECT_TRUE(holds(html, "<span>1 above the chart</span>"));
}

TEST(HtmlReport, LongLabelsHaveRoom) {
  Report report = many_epochs(3, 1);
  for (ReportEpoch& epoch : report.epochs) epoch.train_loss = 123456.25 + epoch.epoch;
  const std::string html = html_report(report);
  // Right-aligned, a label of n digits needs about 8 n.
  const std::size_t at = html.find("<text x=\"");
  ASSERT_NE(at, std::string::npos);
  EXPECT_GT(std::stod(html.substr(at + 9)), 8 * 7.5);
}

TEST(HtmlReport, APartialEpochIsMarked) {
  Report report = three_epochs();
  report.epochs.back().partial = true;
  const std::string html = html_report(report);
  EXPECT_TRUE(holds(html, "<tr><td>3 (partial)</td>"));
  EXPECT_TRUE(holds(html, "epoch 3 (partial), test: 0.3333"));
  EXPECT_EQ(count(html, " partial\""), 4);
}

TEST(HtmlReport, OneChartIsAsLargeAsOneOfTwo) {
  EXPECT_TRUE(
      holds(html_report(many_epochs(3, 1)), "repeat(auto-fill,minmax(min(100%,400px),1fr))"));
}

TEST(HtmlReport, OneEpochIsEnough) {
  Report report = three_epochs();
  report.epochs.resize(1);
  const std::string html = html_report(report);
  EXPECT_EQ(count(html, "<circle"), 4);
  EXPECT_FALSE(holds(html, "nan"));
  EXPECT_FALSE(holds(html, "inf"));
}

TEST(HtmlReport, ConfusionShowsCountsAndTheRightPartOfEachRow) {
  Report report;
  report.class_names = {"cat", "dog"};
  report.confusion = {7, 3, 0, 0};
  report.held_out = "validation";  // of the curves
  const std::string html = html_report(report);
  EXPECT_TRUE(holds(html, "<h2>Confusion matrix (test)</h2>"));
  EXPECT_TRUE(holds(html, "title=\"cat predicted as dog: 3\">3</td>"));
  EXPECT_TRUE(holds(html, "70.00 %"));
  EXPECT_FALSE(holds(html, "nan"));  // a class without samples
}

TEST(HtmlReport, RefusesAConfusionOfTheWrongSize) {
  Report report;
  report.class_names = {"cat", "dog"};
  report.confusion = {1, 2, 3};
  try {
    html_report(report);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "expected a confusion matrix of (2, 2) for 2 class names; got 3 counts");
  }
}

TEST(HtmlReport, ImagesAreBase64) {
  const std::vector<std::pair<std::string, std::string>> known{
      {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xff\xfe", "//4="}};
  for (const auto& [bytes, text] : known) {
    Report report;
    report.worst_images = {{bytes, "cat", "dog", 0.875}};
    const std::string html = html_report(report);
    EXPECT_TRUE(holds(html, "src=\"data:image/png;base64," + text + "\"")) << text;
    EXPECT_TRUE(holds(html, "87.50 %"));
  }
}

}  // namespace
}  // namespace linnet
