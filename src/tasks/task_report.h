// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "html/html_plot.h"

namespace linnet {

/// What simpler answers are worth on the samples that a model was measured on.
struct Rivals {
  std::string verdict = {};  ///< how good the model is, beside them; empty: there are none
  /// Where the model is not better than an answer that looks at no input; else empty.
  std::string worse = {};
  nlohmann::ordered_json json = nlohmann::ordered_json::object();  ///< of summary.json
  ReportTable table = {};
};

/// What a task measured of a model in its own way, in each form.
struct TaskReport {
  const char* key = "series";           ///< of `json` in the summary
  nlohmann::ordered_json json = {};     ///< of the summary and of metrics.json
  std::vector<std::string> lines = {};  ///< for the terminal
  Rivals rivals = {};
  std::string html = {};                ///< sections of the page
  std::vector<std::string> notes = {};  ///< on what was left out
  double seen = 0;                      ///< seen_share() of the samples
};

}  // namespace linnet
