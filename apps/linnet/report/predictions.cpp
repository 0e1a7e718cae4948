// SPDX-License-Identifier: Apache-2.0
#include "report/predictions.h"

#include <fmt/format.h>
#include <linnet/intervals.h>
#include <linnet/series_transform.h>
#include <linnet/table_transform.h>

#include <algorithm>
#include <utility>

#include "base/join.h"
#include "base/utf8.h"
#include "report/csv.h"
#include "report/metrics.h"
#include "tasks/task.h"

namespace linnet::command {
namespace {

std::size_t largest(std::span<const float> outputs) {
  return static_cast<std::size_t>(std::ranges::max_element(outputs) - outputs.begin());
}

/// Adds a column; one whose name is taken gets the prefix.
void add_name(std::vector<std::string>& names, std::string name, const char* prefix) {
  while (std::ranges::count(names, name) > 0) name = prefix + name;
  names.push_back(std::move(name));
}

}  // namespace

Shown shown_of(const Model& model) {
  const Shape outputs = model.network().output_shape();
  const bool named = !model.class_names().empty() && outputs.rank() == 1;
  return {.answers = named ? model.answers() : Answers::values,
          .names = model.class_names(),
          .offsets = model.table().target_offsets(),
          .threshold = task_of(model).threshold(model)};
}

void show_intervals(Shown& shown, const Model& model, double coverage) {
  shown.half_widths = interval_half_widths(model, coverage);
}

namespace {

double offset_of(const Shown& shown, std::size_t i, std::size_t outputs) {
  return shown.offsets.size() == outputs ? shown.offsets[i] : 0;
}

/// Returns the lower (-1) or the upper end (1) of an interval.
double end_of(const Shown& shown, std::span<const float> outputs, std::size_t i, int side) {
  return offset_of(shown, i, outputs.size()) + outputs[i] + side * shown.half_widths[i];
}

/// Returns values as 32 bits say them, or with their offsets; after each the ends of its interval.
std::vector<std::string> value_texts(const Shown& shown, std::span<const float> outputs) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double offset = offset_of(shown, i, outputs.size());
    texts.push_back(offset == 0 ? fmt::format("{}", outputs[i])
                                : fmt::format("{:.15g}", offset + outputs[i]));
    if (shown.half_widths.empty()) continue;
    for (const int side : {-1, 1}) {
      const double end = end_of(shown, outputs, i, side);
      texts.push_back(offset == 0 ? fmt::format("{:.7g}", end) : fmt::format("{:.15g}", end));
    }
  }
  return texts;
}

}  // namespace

std::string line_text(const Shown& shown, const std::string& name, std::span<const float> outputs) {
  const std::string input = escaped(name);
  const auto line = [&](std::size_t index) {
    return fmt::format("{}\t{}\t{:.4f}\n", input, escaped(class_name(shown.names, index)),
                       outputs[index]);
  };
  switch (shown.answers) {
    case Answers::classes:
    case Answers::scores: return line(largest(outputs));
    case Answers::values:
      return fmt::format("{}\t{}{}\n", input, join(value_texts(shown, outputs), "\t"),
                         !shown.threshold                ? ""
                         : outputs[0] > *shown.threshold ? "\tnovel"
                                                         : "\tusual");
    case Answers::labels: break;
  }
  std::string text;
  for (std::size_t i = 0; i < outputs.size(); ++i) text += line(i);
  return text;
}

std::string predictions_csv(const Model& model, const Shown& shown,
                            const std::vector<std::string>& inputs,
                            std::span<const float> outputs) {
  const std::size_t width = inputs.empty() ? 0 : outputs.size() / inputs.size();
  const bool best = shown.answers == Answers::classes || shown.answers == Answers::scores;
  const std::vector<std::string> targets = task_of(model).targets(model);
  std::vector<std::string> names{"input"};
  if (best) add_name(names, targets.empty() ? "class" : targets[0], "predicted_");
  for (std::size_t i = 0; i < width; ++i) {
    if (shown.answers != Answers::values) {
      add_name(names, class_name(shown.names, i), "probability_");
    } else {
      const std::string name =
          targets.size() == width ? targets[i] : fmt::format("output_{}", i + 1);
      add_name(names, name, "predicted_");
      if (shown.half_widths.empty()) continue;
      add_name(names, name + "_low", "predicted_");
      add_name(names, name + "_high", "predicted_");
    }
  }
  if (shown.threshold) add_name(names, "novel", "predicted_");
  for (std::string& name : names) name = csv_field(name, shown.safe);
  std::string text = join(names, ",") + "\n";
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::span<const float> row = outputs.subspan(i * width, width);
    text += csv_field(inputs[i], shown.safe) + ",";
    if (best) text += csv_field(class_name(shown.names, largest(row)), shown.safe) + ",";
    text += join(value_texts(shown, row), ",");
    if (shown.threshold) text += row[0] > *shown.threshold ? ",1" : ",0";
    text += "\n";
  }
  return text;
}

Json answer_json(const Shown& shown, std::span<const float> outputs) {
  Json json = Json::object();
  if (shown.answers == Answers::classes || shown.answers == Answers::scores) {
    const std::size_t best = largest(outputs);
    json["class"] = class_name(shown.names, best);
    json[shown.answers == Answers::classes ? "probability" : "score"] = outputs[best];
  } else if (shown.answers == Answers::labels) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      json["labels"].push_back(
          {{"label", class_name(shown.names, i)}, {"probability", outputs[i]}});
    }
  }
  json["outputs"] = std::vector<float>(outputs.begin(), outputs.end());
  if (shown.threshold) json["novel"] = outputs[0] > *shown.threshold;
  for (std::size_t i = 0; i < shown.half_widths.size(); ++i) {
    json["low"].push_back(end_of(shown, outputs, i, -1));
    json["high"].push_back(end_of(shown, outputs, i, 1));
  }
  if (shown.offsets.size() != outputs.size()) return json;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (shown.offsets[i] != 0) json["outputs"][i] = shown.offsets[i] + outputs[i];
  }
  return json;
}

}  // namespace linnet::command
