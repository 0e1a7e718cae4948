// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/bytes_text.h"
#include "base/join.h"
#include "base/utf8.h"
#include "core/dims.h"
#include "tasks/task_pages.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostShapes = 5;  // that are named; the rest is counted
constexpr std::size_t kMostBadFiles = 20;
constexpr std::int64_t kBarWidth = 30;

Json range_json(const ValueRange& range) {
  if (range.count == range.not_finite) return nullptr;
  return {{"least", range.least},
          {"most", range.most},
          {"mean", range.mean},
          {"std", range.std_dev},
          {"not_finite", range.not_finite}};
}

Json part_json(const Survey& survey, const PartSurvey& part) {
  Json json{{"name", survey.name},
            {"samples", part.samples},
            {"sample_shape", part.shapes.size() == 1 ? Json(part.shapes.begin()->first) : Json()},
            {"dtype", to_string(part.dtype)},
            {"bytes", part.bytes},
            {"classes", survey.class_names},
            {"samples_by_class", part.samples_by_class},
            {"range", range_json(part.samples_range)},
            {"shapes", Json::array()}};
  for (const auto& [shape, count] : part.shapes) {
    json["shapes"].push_back({{"shape", shape}, {"samples", count}});
  }
  if (part.values_range.count > 0) {
    json["value_shape"] = dims_of(part.value_shape);
    json["value_range"] = range_json(part.values_range);
  }
  return json;
}

Json survey_json(const Survey& survey, const std::string& path) {
  Json json{{"path", path}, {"format", survey.format}};
  for (const char* name : {"train", "test"}) json[name] = part_json(survey, PartSurvey{});
  for (const PartSurvey& part : survey.parts) json[part.name] = part_json(survey, part);
  json["bad_files"] = Json::array();
  for (const BadFile& file : survey.bad_files) {
    json["bad_files"].push_back({{"path", file.path.string()}, {"reason", file.reason}});
  }
  json["notes"] = survey.notes;
  return json;
}

std::string range_text(const ValueRange& range) {
  if (range.count == range.not_finite) return "no finite numbers";
  return fmt::format("{:.4g} to {:.4g}, mean {:.4g}, std {:.4g}{}", range.least, range.most,
                     range.mean, range.std_dev,
                     range.not_finite > 0 ? fmt::format(", {} not finite", range.not_finite) : "");
}

std::string shapes_text(const PartSurvey& part) {
  if (part.shapes.size() == 1) return to_string(Shape(part.shapes.begin()->first));
  std::string text = fmt::format("{} shapes (", part.shapes.size());
  std::size_t named = 0;
  for (const auto& [shape, count] : part.shapes) {
    if (named == kMostShapes) break;
    text += fmt::format("{}{} x {}", named > 0 ? ", " : "", count, to_string(Shape(shape)));
    ++named;
  }
  return text + (part.shapes.size() > named ? ", ...)" : ")");
}

/// Returns each class with its share of the samples and a bar, the longest that of the largest
/// class.
std::string classes_text(const PartSurvey& part, const std::vector<std::string>& names) {
  const std::vector<std::int64_t>& counts = part.samples_by_class;
  if (counts.empty()) return "";
  const std::int64_t most =
      std::max<std::int64_t>(1, *std::max_element(counts.begin(), counts.end()));
  std::string out;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double share = 100 * static_cast<double>(counts[i]) /
                         static_cast<double>(std::max<std::int64_t>(1, part.samples));
    const auto bar = static_cast<std::size_t>((counts[i] * kBarWidth + most - 1) / most);
    out += fmt::format("  {:>4}  {:<20} {:>8}  {:>5.1f} %{}{}\n", i, escaped(names[i]), counts[i],
                       share, bar > 0 ? "  " : "", std::string(bar, '#'));
  }
  return out;
}

std::string survey_text(const Survey& survey) {
  std::string out = fmt::format("{} ({})\n", escaped(survey.name), survey.format);
  for (const PartSurvey& part : survey.parts) {
    out += fmt::format("{:<10} {} samples of {} {}, {}\n", part.name, part.samples,
                       shapes_text(part), to_string(part.dtype), bytes_text(part.bytes));
    out += fmt::format("  samples  {}\n", range_text(part.samples_range));
    if (part.values_range.count > 0) {
      out += fmt::format("  targets  {} f32, {}\n", to_string(part.value_shape),
                         range_text(part.values_range));
    }
    out += classes_text(part, survey.class_names);
  }
  if (survey.parts.empty()) out += "no samples\n";
  for (const std::string& note : survey.notes) out += escaped(note) + '\n';
  if (survey.bad_files.empty()) return out;
  out += fmt::format("{} bad {}\n", survey.bad_files.size(),
                     survey.bad_files.size() == 1 ? "file" : "files");
  for (std::size_t i = 0; i < std::min(survey.bad_files.size(), kMostBadFiles); ++i) {
    out += fmt::format("  {}\n", escaped(survey.bad_files[i].reason));
  }
  if (survey.bad_files.size() > kMostBadFiles) {
    out +=
        fmt::format("  and {} more; --json lists all\n", survey.bad_files.size() - kMostBadFiles);
  }
  return out;
}

}  // namespace

std::string held_out_text(std::size_t validation, std::size_t test) {
  std::vector<std::string> parts;
  if (validation > 0) parts.push_back(fmt::format("{} for the validation", validation));
  if (test > 0) parts.push_back(fmt::format("{} for the test", test));
  return parts.empty() ? "" : fmt::format(" ({})", join(parts, ", "));
}

TaskSurvey shown_survey(const Survey& survey, const std::string& path) {
  return {.json = survey_json(survey, path),
          .text = survey_text(survey),
          .all_usable = survey.bad_files.empty()};
}

}  // namespace linnet
