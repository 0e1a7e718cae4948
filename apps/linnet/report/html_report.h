// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "html/html_plot.h"

namespace linnet {

/// One epoch of a report. NaN stands for what was not measured; accuracies lie in [0, 1].
struct ReportEpoch {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::int64_t epoch = 0;  ///< from 1
  double train_loss = kNone;
  double train_accuracy = kNone;
  double test_loss = kNone;
  double test_accuracy = kNone;
  double seconds = kNone;
  double samples_per_second = kNone;
  bool partial = false;  ///< of fewer samples than the others: the training was stopped in it
};

/// A test image that the network took for something else.
struct ReportImage {
  std::string png;  ///< the bytes of a PNG file
  std::string truth;
  std::string predicted;
  double probability = 0;  ///< given to `predicted`, in [0, 1]
};

/// A text that the network took for something else.
struct ReportText {
  std::string text;  ///< its words as the network knows them, perhaps the first ones
  std::string truth;
  std::string predicted;
  double probability = 0;  ///< given to `predicted`, in [0, 1]
};

/// Describes a training for its report. Every part may be empty; its section is left out then.
struct Report {
  std::string title = {};
  std::string subtitle = {};
  std::string verdict = {};  ///< the sentence on how good the model is; it stands first
  bool warns = false;        ///< the model is not better than a trivial answer
  ReportTable rivals = {};   ///< the model's scores beside those of simpler ones
  ReportBars importance = {};
  std::vector<std::string> notes = {};  ///< sentences on data and training
  /// Key and value, in this order, of the training and its machine.
  std::vector<std::pair<std::string, std::string>> facts = {};
  std::vector<ReportEpoch> epochs = {};
  std::string held_out = "test";  ///< what the test_* curves were measured on
  std::string measured = "test";  ///< what the confusion matrix was
  /// Further sections as HTML, e.g. of forecasts; html_text() escapes what they show.
  std::string sections = {};
  std::vector<ReportPlot> plots = {};
  std::vector<ReportTable> tables = {};
  std::vector<std::string> class_names = {};
  std::vector<std::int64_t> confusion = {};    ///< (classes, classes), row: true, column: predicted
  std::vector<ReportImage> worst_images = {};  ///< worst first
  std::vector<ReportText> worst_texts = {};    ///< worst first
};

/// Returns the report as one HTML file that needs nothing else: no script, no font and no image
/// from elsewhere; light or dark as the reader's system is. All text is escaped. Throws Error where
/// `confusion` is neither empty nor (classes, classes).
std::string html_report(const Report& report);

/// The style sheet of a report, with plot_style(), for pages that look like one.
std::string page_style();

}  // namespace linnet
