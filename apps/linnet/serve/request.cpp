// SPDX-License-Identifier: Apache-2.0
#include "serve/request.h"

#include <linnet/samples.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <span>
#include <utility>

#include "base/check.h"
#include "formats/image_memory.h"
#include "nn/definition.h"
#include "serve/json_rows.h"
#include "serve/json_samples.h"
#include "serve/json_sections.h"
#include "table/contents.h"

namespace linnet::command {
namespace {

// What reading a table takes beside its text: a field; and a record, with the value that one column
// was found to have.
constexpr std::size_t kBytesOfField = 8;
constexpr std::size_t kBytesOfRecord = 168;
constexpr std::size_t kBytesOfColumn = 1024;
constexpr std::size_t kCopiesOfText = 4;      // of names too
constexpr std::size_t kBytesOfValue = 16;     // of a series, twice as a double
constexpr std::size_t kBytesOfSample = 1024;  // beside its numbers
constexpr std::size_t kBytesOfOutput = 64;    // as a number and in the text of the answer
constexpr std::size_t kFactor = 8;            // times its size that a body may need

/// Quotes are not looked at: which of them count depends on what parts the fields.
TableSize size_of_table(std::string_view text) {
  TableSize size;
  std::array<std::size_t, 256> counts{};  // of each character; of a blank that ends blanks
  char last = '\n';
  for (const char c : text) {
    const bool ends = c == '\n' || c == '\r';
    if (ends && last != '\n' && last != '\r') ++size.records;
    const bool blank = c == ' ' || c == '\t';
    if (c != ' ') ++counts[static_cast<unsigned char>(c)];
    if (!blank && (last == ' ' || last == '\t')) ++counts[' '];
    last = c;
  }
  for (const char separator : {',', ';', '\t', '|', ' '}) {
    size.fields = std::max(size.fields, counts[static_cast<unsigned char>(separator)]);
  }
  size.fields += size.records;
  return size;
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
  require<TooLarge>(samples <= most,
                    "a request may have at most {} samples (--max-samples, --max-queue)", most);
}

RequestReader::RequestReader(const Model& model, std::vector<std::string> words,
                             const RequestLimits& limits)
    : model_(model),
      words_(std::move(words)),
      task_(task_of(model, !words_.empty())),
      takes_rows_(task_.takes_rows(model)),
      limits_(limits) {}

std::size_t RequestReader::input_memory() const {
  std::int64_t elements = 0;
  for (const NetworkInput& input : model_.network().definition().inputs) {
    elements += input.sample.elements();
  }
  return sizeof(float) * static_cast<std::size_t>(elements);
}

std::size_t RequestReader::sample_memory() const {
  const auto outputs = static_cast<std::size_t>(model_.network().output_shape().elements());
  return kBytesOfSample + input_memory() + kBytesOfOutput * outputs;
}

void RequestReader::hold(std::size_t bytes, std::string_view what, const Reserve& reserve) const {
  require<TooLarge>(bytes <= limits_.bytes,
                    "{} may need {} bytes of memory; a request may need at most {} (--max-memory)",
                    what, bytes, limits_.bytes);
  reserve(bytes);
}

DType RequestReader::type() const { return model_.network().definition().inputs[0].dtype; }

ReadSamples RequestReader::read(std::string_view type, const std::string& body,
                                const Reserve& reserve) const {
  if (type.starts_with("image/")) return {.samples = {image(body, reserve)}};
  if (type == "text/plain") {
    hold(kFactor * body.size() + sample_memory(), "the text", reserve);
    return {.samples = {text(body)}};
  }
  if (type == "text/csv") {
    const TableSize size = size_of_table(body);
    // A header, and an empty last line; quotes may hold further lines.
    const bool quotes = body.find('"') != std::string::npos;
    if (!quotes && size.records > 2) check_samples(size.records - 2, limits_.samples);
    hold(table_memory(size, body.size()) +
             std::min(size.records, limits_.samples + 1) * (sample_memory() + input_memory()),
         "the table", reserve);
    return rows(body, task_.reading(model_));
  }
  require<WrongType>(
      type == "application/json",
      "expected the Content-Type application/json, image/*, text/plain or text/csv; got '{}'",
      type);
  return from_json(body, reserve);
}

Sample RequestReader::image(const std::string& body, const Reserve& reserve) const {
  require(task_.reads(TaskFiles::images), "the model takes no images; its input is {}",
          to_string(model_.network().input_shape()));
  hold(image_memory(body, model_.training_record().images, model_.sample_shape()) + sample_memory(),
       "the image", reserve);
  // f32, like numbers in JSON, so that both can be in one batch.
  const Tensor pixels = decode_image(std::as_bytes(std::span(body)), model_).to(DType::f32);
  return Sample({{model_.network().input_names()[0], pixels}});
}

Sample RequestReader::text(std::string_view text) const {
  require(task_.reads(TaskFiles::texts), "the model takes no texts; its input is {}",
          to_string(model_.network().input_shape()));
  return Sample({{model_.network().input_names()[0],
                  encode_text(text, words_, model_.network().input_shape()[0])}});
}

std::size_t RequestReader::most_columns() const { return 64 + 4 * task_.table_width(model_); }

std::size_t RequestReader::table_memory(const TableSize& size, std::size_t body) const {
  const std::size_t bytes = kCopiesOfText * body + kBytesOfRecord * size.records +
                            kBytesOfField * size.fields +
                            kBytesOfColumn * std::min(size.fields, most_columns());
  const std::size_t most = std::max(kFactor * body, limits_.body);
  require<TooLarge>(bytes <= most,
                    "{} rows and {} fields need up to {} bytes of memory; those of a body of {} "
                    "bytes may need {} (8 times its size, or --max-body if that is more)",
                    size.records, size.fields, bytes, body, most);
  return bytes;
}

TableSize RequestReader::size_of_rows(const std::string& body) const {
  const auto objects = static_cast<std::size_t>(std::ranges::count(body, '{'));
  const std::size_t rows =
      task_.answers_tables() ? objects : std::min(objects, limits_.samples + 1);
  return {.records = rows + 1, .fields = (rows + 1) * task_.row_columns(model_).size()};
}

std::size_t RequestReader::series_memory(std::size_t rows) const {
  const Shape& sample = model_.network().definition().inputs[0].sample;
  const std::int64_t values = sample.elements() / std::max<std::int64_t>(sample[0], 1);
  return rows * kBytesOfValue * (8 + static_cast<std::size_t>(values)) + sample_memory();
}

ReadSamples RequestReader::rows(std::string text, const TableOptions& options) const {
  require(takes_rows_, "the model takes no rows of a table; its input is {}",
          to_string(model_.network().input_shape()));
  const Table table = parse_table(std::move(text), "the rows", options, most_columns());
  check_samples(static_cast<std::size_t>(table.rows()), limits_.samples);
  RequestRows read = task_.samples_of(model_, table);
  const Dataset& data = read.data;
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
  return {.samples = std::move(samples), .notes = std::move(read.notes)};
}

Table RequestReader::read_series(std::string_view type, const std::string& body,
                                 const Reserve& reserve) const {
  const TableOptions reading = task_.reading(model_);
  if (type == "text/csv") {
    const TableSize size = size_of_table(body);
    hold(table_memory(size, body.size()) + series_memory(size.records), "the table", reserve);
    return parse_table(body, "the rows", reading, most_columns());
  }
  require<WrongType>(type == "application/json",
                     "a model of series forecasts after the rows of a table: expected the "
                     "Content-Type text/csv or application/json; got '{}'",
                     type);
  const TableSize size = size_of_rows(body);
  hold(table_memory(size, body.size()) + series_memory(size.records), "the body", reserve);
  JsonRows rows(task_.row_columns(model_), body.size());
  require(read_sections(body, {{"rows", &rows}}) == "rows", "expected a key 'rows'");
  require(rows.rows() > 0, "'rows' must be an array of objects, at least one");
  return parse_table(rows.take(), "the rows", as_json(reading), most_columns());
}

std::size_t RequestReader::most_samples(const std::string& body) const {
  const auto count = [&](char c) { return static_cast<std::size_t>(std::ranges::count(body, c)); };
  std::size_t samples = 1 + body.size() / std::max<std::size_t>(input_memory() / 2, 1);
  if (task_.reads(TaskFiles::texts)) samples += count('"') / 2;
  if (takes_rows_) samples += count('{');
  return std::min(samples, limits_.samples);
}

ReadSamples RequestReader::from_json(const std::string& body, const Reserve& reserve) const {
  const std::size_t table = takes_rows_ ? table_memory(size_of_rows(body), body.size()) : 0;
  hold(std::max(kFactor * body.size(), table) +
           most_samples(body) * (sample_memory() + input_memory()),
       "the body", reserve);
  std::vector<Sample> samples;
  JsonSamples numbers(model_.network().definition().inputs, limits_.samples);
  JsonTexts texts([&](std::string_view one) {
    check_samples(samples.size() + 1, limits_.samples);
    samples.push_back(text(one));
  });
  JsonRows rows(task_.row_columns(model_), limits_.samples);
  std::map<std::string, JsonSection*> sections{{"inputs", &numbers}, {"texts", &texts}};
  if (takes_rows_) sections["rows"] = &rows;
  const std::string found = read_sections(body, sections);
  require(!found.empty(), "expected a key 'inputs'{}",
          task_.reads(TaskFiles::texts) ? " or 'texts'"
          : takes_rows_                 ? " or 'rows'"
                                        : "");
  if (found == "inputs") return {.samples = numbers.take()};
  if (found == "texts" || rows.rows() == 0) return {.samples = std::move(samples)};
  return this->rows(rows.take(), as_json(task_.reading(model_)));
}

Json RequestReader::description() const {
  Json json;
  json["takes"] = std::string(task_.takes());
  const std::vector<std::string> columns = task_.row_columns(model_);
  if (!columns.empty()) json["columns"] = columns;
  task_.describe(model_, json);
  const std::vector<std::string> targets = task_.targets(model_);
  if (!targets.empty()) json["targets"] = targets;
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
