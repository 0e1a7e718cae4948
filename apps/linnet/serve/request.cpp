// SPDX-License-Identifier: Apache-2.0
#include "serve/request.h"

#include <linnet/samples.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <utility>

#include "base/check.h"
#include "data/image_header.h"
#include "nn/definition.h"
#include "series/series_record.h"
#include "serve/json_rows.h"
#include "serve/json_samples.h"
#include "serve/json_sections.h"
#include "serve/table_fields.h"

namespace linnet::command {
namespace {

// What reading a table takes beside its text: fields and records, grown by doubling, and of each
// record the values that one column was found to have.
constexpr std::size_t kBytesOfField = 24;
constexpr std::size_t kBytesOfRecord = 144;

/// Returns how many records a text of delimited fields has at most, and how many fields.
std::pair<std::size_t, std::size_t> records_and_fields(std::string_view text) {
  std::size_t records = 1;
  std::size_t fields = 1;
  bool quoted = false;
  char last = '\n';
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    const bool ends = c == '\n' || c == '\r';
    if (ends && last != '\n' && last != '\r') ++records;
    if (ends || c == ',' || c == ';' || c == '\t' || c == '|') ++fields;
    last = c;
  }
  return {records, fields};
}

/// Reads "texts": an array of strings.
class JsonTexts final : public JsonSection {
 public:
  explicit JsonTexts(std::function<void(std::string_view text)> add) : add_(std::move(add)) {}

  void value(const JsonEvent& event) override {
    require(event.depth > 0 || event.kind == JsonKind::array,
            "'texts' must be an array of strings");
    if (event.depth == 0) return;
    require(event.kind == JsonKind::string, "'texts' must be an array of strings; it has {}",
            to_string(event.kind));
    add_(event.text);
  }
  void key(std::string_view /*name*/, int /*depth*/) override {}
  void close(int /*depth*/) override {}

 private:
  std::function<void(std::string_view text)> add_;
};

/// How the text of JsonRows is read.
TableOptions as_json(TableOptions options) {
  options.separator = ',';
  options.decimal = '.';
  options.header = true;
  return options;
}

}  // namespace

void check_samples(std::size_t samples, std::size_t most) {
  require<TooLarge>(samples <= most, "a request may have at most {} samples (--max-queue)", most);
}

RequestReader::RequestReader(const Model& model, std::vector<std::string> words,
                             const RequestLimits& limits)
    : model_(model), words_(std::move(words)), limits_(limits) {}

std::size_t RequestReader::size_of(std::string_view type, const std::string& body) {
  if (!type.starts_with("image/")) return body.size();
  const ImageHeader header = image_header(body);
  const double pixels = static_cast<double>(header.height) * static_cast<double>(header.width);
  const double bytes = std::max(pixels * static_cast<double>(header.channels), 0.0);
  return std::max(body.size(), static_cast<std::size_t>(std::min(bytes, 1e18)));
}

DType RequestReader::type() const { return model_.network().definition().inputs[0].dtype; }

bool RequestReader::takes_images() const {
  const NetworkDefinition& network = model_.network().definition();
  const Shape sample = model_.sample_shape();
  return network.inputs.size() == 1 && network.inputs[0].dtype == DType::f32 &&
         sample.rank() == 3 && (sample[2] == 1 || sample[2] == 3);
}

ReadSamples RequestReader::read(std::string_view type, const std::string& body) const {
  if (type.starts_with("image/")) return {.samples = {image(body)}};
  if (type == "text/plain") return {.samples = {text(body)}};
  if (type == "text/csv") {
    const std::size_t records = records_and_fields(body).first;
    check_samples(records <= 2 ? 1 : records - 2, limits_.samples);  // a header, an empty last line
    return rows(body, model_.table().reading());
  }
  require<WrongType>(
      type == "application/json",
      "expected the Content-Type application/json, image/*, text/plain or text/csv; got '{}'",
      type);
  return from_json(body);
}

Sample RequestReader::image(const std::string& body) const {
  require(takes_images(), "the model takes no images; its input is {}",
          to_string(model_.network().input_shape()));
  require<TooLarge>(
      size_of("image/", body) <= limits_.bytes,
      "the image's pixels need more than the {} bytes that a request may take (8 times "
      "--max-body)",
      limits_.bytes);
  // f32, like numbers in JSON, so that both can be in one batch.
  const Tensor pixels = decode_image(std::as_bytes(std::span(body)), model_).to(DType::f32);
  return Sample({{model_.network().input_names()[0], pixels}});
}

Sample RequestReader::text(std::string_view text) const {
  require(takes_texts(), "the model takes no texts; its input is {}",
          to_string(model_.network().input_shape()));
  return Sample({{model_.network().input_names()[0],
                  encode_text(text, words_, model_.network().input_shape()[0])}});
}

void RequestReader::check_table(std::string_view text) const {
  const auto [records, fields] = records_and_fields(text);
  require<TooLarge>(
      2 * text.size() + kBytesOfRecord * records + kBytesOfField * fields <= limits_.bytes,
      "{} rows with {} fields need more than the {} bytes that a request may take (8 times "
      "--max-body)",
      records, fields, limits_.bytes);
}

ReadSamples RequestReader::rows(const std::string& text, const TableOptions& options) const {
  require(takes_rows(), "the model takes no rows of a table; its input is {}",
          to_string(model_.network().input_shape()));
  check_table(text);
  const Table table = parse_table(text, "the rows", options);
  check_samples(static_cast<std::size_t>(table.rows()), limits_.samples);
  const Dataset data = model_.table().inputs(table);
  const std::vector<std::string> names = model_.network().input_names();
  std::vector<Sample> samples(static_cast<std::size_t>(table.rows()));
  for (std::size_t row = 0; row < samples.size(); ++row) {
    for (const std::string& name : names) {
      // An input alone may have any name.
      const Column& column = data.inputs().size() == 1 ? data.inputs()[0] : data.column(name);
      const auto at = static_cast<std::int64_t>(row);
      samples[row].set(name, column.data.rows(at, at + 1));
    }
  }
  return {.samples = std::move(samples), .notes = row_notes(model_.table(), table)};
}

std::vector<std::string> RequestReader::columns() const {
  if (!takes_series()) return model_.table().input_columns();
  const SeriesRecord& record = *model_.series().record();
  if (!record.learned.header) return record.columns;  // which are known by their places
  std::vector<std::string> columns;
  for (const std::string& one : {record.entity, record.time}) {
    if (!one.empty()) columns.push_back(one);
  }
  for (const SeriesColumn& input : record.inputs) columns.push_back(input.column);
  return columns;
}

Table RequestReader::read_series(std::string_view type, const std::string& body) const {
  const TableOptions reading = model_.series().reading();
  if (type == "text/csv") {
    check_table(body);
    return parse_table(body, "the rows", reading);
  }
  require<WrongType>(type == "application/json",
                     "a model of series forecasts after the rows of a table: expected the "
                     "Content-Type text/csv or application/json; got '{}'",
                     type);
  JsonRows rows(columns(), limits_.bytes);  // as many as the body may hold
  require(read_sections(body, {{"rows", &rows}}) == "rows", "expected a key 'rows'");
  require(rows.rows() > 0, "'rows' must be an array of objects, at least one");
  const std::string text = rows.take();
  check_table(text);
  return parse_table(text, "the rows", as_json(reading));
}

ReadSamples RequestReader::from_json(const std::string& body) const {
  std::vector<Sample> samples;
  JsonSamples numbers(model_.network().definition().inputs, limits_.samples);
  JsonTexts texts([&](std::string_view one) {
    check_samples(samples.size() + 1, limits_.samples);
    samples.push_back(text(one));
  });
  JsonRows rows(columns(), limits_.samples);
  std::map<std::string, JsonSection*> sections{{"inputs", &numbers}, {"texts", &texts}};
  if (takes_rows()) sections["rows"] = &rows;
  const std::string found = read_sections(body, sections);
  require(!found.empty(), "expected a key 'inputs'{}",
          takes_texts()  ? " or 'texts'"
          : takes_rows() ? " or 'rows'"
                         : "");
  if (found == "inputs") return {.samples = numbers.take()};
  if (found == "texts" || rows.rows() == 0) return {.samples = std::move(samples)};
  return this->rows(rows.take(), as_json(model_.table().reading()));
}

Json RequestReader::description() const {
  Json json;
  json["takes"] = takes_images()   ? "images"
                  : takes_texts()  ? "texts"
                  : takes_rows()   ? "rows"
                  : takes_series() ? "series"
                                   : "numbers";
  if (takes_rows() || takes_series()) json["columns"] = columns();
  if (takes_rows()) {
    json["fields"] = fields_json(model_.table());
    json["targets"] = model_.table().targets();
  }
  if (takes_series()) {
    json["past"] = model_.series().past();
    json["future"] = model_.series().future();
    json["targets"] = model_.series().targets();
  }
  for (const NetworkInput& input : model_.network().definition().inputs) {
    json["inputs"].push_back({{"name", input.name},
                              {"shape", to_json(input.sample)},
                              {"type", std::string(to_string(input.dtype))}});
  }
  json["sample"] = to_json(model_.sample_shape());
  json["output"] = to_json(model_.network().output_shape());
  json["classes"] = model_.class_names();
  return json;
}

}  // namespace linnet::command
