// SPDX-License-Identifier: Apache-2.0
#include "report/predictions.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/join.h"
#include "report/metrics.h"

namespace linnet::command {
namespace {

std::size_t largest(std::span<const float> outputs) {
  return static_cast<std::size_t>(std::ranges::max_element(outputs) - outputs.begin());
}

}  // namespace

Shown shown_of(const Model& model) {
  const Shape outputs = model.network().output_shape();
  const bool named = !model.class_names().empty() && outputs.rank() == 1;
  return {named ? model.answers() : Answers::values, model.class_names()};
}

std::string line_text(const Shown& shown, const std::string& name, std::span<const float> outputs) {
  const auto line = [&](std::size_t index) {
    return fmt::format("{}\t{}\t{:.4f}\n", name, class_name(shown.names, index), outputs[index]);
  };
  switch (shown.answers) {
    case Answers::classes:
    case Answers::scores: return line(largest(outputs));
    case Answers::values: return fmt::format("{}\t{}\n", name, join(outputs, "\t"));
    case Answers::labels: break;
  }
  std::string text;
  for (std::size_t i = 0; i < outputs.size(); ++i) text += line(i);
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
  return json;
}

}  // namespace linnet::command
