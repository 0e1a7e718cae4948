// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/json.h"

namespace linnet::command {

/// Says what the outputs of a model are, and how lines show them.
struct Shown {
  Answers answers = Answers::values;
  std::vector<std::string> names;    ///< of the classes or labels; may be empty
  std::vector<double> offsets = {};  ///< that values are less; empty: none
  bool safe = false;                 ///< no field of a CSV file begins like a formula
  /// Half-widths of the intervals around values, one for each; empty: none are shown.
  std::vector<double> half_widths = {};
  std::optional<double> threshold = {};  ///< of a novelty; nothing: none is shown

  /// Returns whether the outputs are shown as probabilities.
  bool probabilities() const { return answers == Answers::classes || answers == Answers::labels; }
};

/// Classes and labels want a row of outputs, and names that the lines can show.
Shown shown_of(const Model& model);

/// Adds intervals of a coverage. Throws as interval_half_widths() does.
void show_intervals(Shown& shown, const Model& model, double coverage);

/// Returns text such as "cat.png\tcat\t0.9912\n"; a line for each of independent labels; of values
/// all numbers, each followed by the ends of its interval; of a novelty "novel" or "usual" too.
std::string line_text(const Shown& shown, const std::string& name, std::span<const float> outputs);

/// Returns the predictions as a CSV file: "input", then of classes the best one and the probability
/// (or score) of each under its name, of labels their probabilities, of values all numbers. Columns
/// are named as the targets of a model's table are, else "class" and "output_1"; the ends of
/// intervals "NAME_low" and "NAME_high". Of a novelty a column "novel" is 1 above the threshold.
std::string predictions_csv(const Model& model, const Shown& shown,
                            const std::vector<std::string>& inputs, std::span<const float> outputs);

/// {"class": "cat", "probability": 0.9912, "outputs": [...]}, or "labels", or outputs alone, with
/// "low" and "high" of their intervals, or "novel".
Json answer_json(const Shown& shown, std::span<const float> outputs);

}  // namespace linnet::command
