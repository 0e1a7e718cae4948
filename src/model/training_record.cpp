// SPDX-License-Identifier: Apache-2.0
#include "model/training_record.h"

#include <linnet/loss.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/json.h"
#include "core/dims.h"
#include "graph/value.h"

namespace linnet {
namespace {

constexpr std::uint64_t kMostElements = std::uint64_t{1} << 31;  // of a sample
constexpr std::size_t kMostHashes = 1 << 16;
constexpr const char* kDamaged = "its training record is damaged";

bool is_loss(const std::string& name) {
  const std::vector<std::string_view> names = loss_names();
  return name.empty() || name == "custom" ||
         std::ranges::find(names, std::string_view(name)) != names.end();
}

Shape shape_from(const nlohmann::json& json) {
  const bool whole =
      std::ranges::all_of(json, [](const auto& dim) { return dim.is_number_unsigned(); });
  const std::optional<Shape> shape =
      whole ? sample_shape_of(json.get<std::vector<std::uint64_t>>()) : std::nullopt;
  require<DataError>(shape.has_value(), "{}", kDamaged);
  return *shape;
}

ImageReading images_from(const nlohmann::json& json) {
  const bool whole = json.is_object() && json.contains("exif") && json["exif"].is_boolean() &&
                     json.contains("white") && json["white"].is_number_unsigned() &&
                     json["white"].get<std::uint64_t>() <= 65535;
  require<DataError>(whole, "{}", kDamaged);
  return {.exif = json["exif"].get<bool>() ? Exif::apply : Exif::ignore,
          .white = json["white"].get<std::int64_t>()};
}

/// Sorted, of files of later versions too.
std::vector<std::uint64_t> hashes_from(const nlohmann::json& json) {
  const bool whole =
      json.is_array() && json.size() <= kMostHashes &&
      std::ranges::all_of(json, [](const auto& hash) { return hash.is_number_unsigned(); });
  require<DataError>(whole, "{}", kDamaged);
  auto hashes = json.get<std::vector<std::uint64_t>>();
  std::ranges::sort(hashes);
  return hashes;
}

}  // namespace

std::optional<Shape> sample_shape_of(std::span<const std::uint64_t> dims) {
  if (dims.size() > Shape::kMostAxes) return {};
  std::uint64_t elements = 1;
  for (const std::uint64_t dim : dims) {
    if (dim < 1 || dim > kMostElements / elements) return {};
    elements *= dim;
  }
  return Shape(std::vector<std::int64_t>(dims.begin(), dims.end()));
}

std::string to_json(const TrainingRecord& record) {
  nlohmann::json json{{"loss", record.loss},
                      {"labels", record.labels},
                      {"sample_shape", dims_of(record.sample_shape)}};
  if (!record.seen.empty()) json["seen"] = record.seen;
  if (record.images != ImageReading()) {
    json["images"] = {{"exif", record.images.exif == Exif::apply}, {"white", record.images.white}};
  }
  return json.dump();
}

TrainingRecord training_record_from(const std::string& text) {
  const auto json = parse_json<nlohmann::json>(text, 2, "its training record");
  const bool whole = json.is_object() && json.contains("loss") && json["loss"].is_string() &&
                     json.contains("labels") && json["labels"].is_boolean() &&
                     json.contains("sample_shape") && json["sample_shape"].is_array() &&
                     is_loss(json["loss"].get<std::string>());
  require<DataError>(whole, "{}", kDamaged);
  return {.loss = json["loss"].get<std::string>(),
          .labels = json["labels"].get<bool>(),
          .sample_shape = shape_from(json["sample_shape"]),
          .seen = json.contains("seen") ? hashes_from(json["seen"]) : std::vector<std::uint64_t>(),
          .images = json.contains("images") ? images_from(json["images"]) : ImageReading()};
}

}  // namespace linnet
