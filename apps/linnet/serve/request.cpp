// SPDX-License-Identifier: Apache-2.0
#include "serve/request.h"

#include <linnet/samples.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "base/check.h"
#include "describe/nearest.h"
#include "nn/definition.h"
#include "report/csv.h"
#include "series/series_record.h"

namespace linnet::command {
namespace {

constexpr int kDeepest = 8;  ///< of arrays in arrays: as many axes as a Shape has at most

/// Adds the numbers of nested arrays in row-major order.
void flatten(const Json& value, const std::string& input, int depth, std::vector<double>& to) {
  if (value.is_array()) {
    require(depth < kDeepest, "input '{}': expected arrays nested at most {} deep", input,
            kDeepest);
    for (const Json& item : value) flatten(item, input, depth + 1, to);
    return;
  }
  require(value.is_number(), "input '{}': expected numbers; got {}", input, value.type_name());
  to.push_back(value.get<double>());
}

template <class T>
Tensor tensor_of(const std::vector<double>& values, const Shape& sample) {
  std::vector<T> elements;
  for (const double value : values) elements.push_back(static_cast<T>(value));
  return Tensor(std::move(elements), sample.batched(1));
}

/// Returns the object that a body holds.
Json parsed(const std::string& body) {
  Json json;
  try {
    json = Json::parse(body);
  } catch (const nlohmann::json::exception& error) {
    fail("the body is not valid JSON: {}", error.what());
  }
  require(json.is_object(), "expected a JSON object; got {}", json.type_name());
  return json;
}

/// Returns rows as a table of text with these columns.
std::string csv_of(const Json& rows, const std::vector<std::string>& columns) {
  std::string text;
  const auto add = [&](const std::string& field, bool last) {
    text += csv_quoted(field) + (last ? "\n" : ",");
  };
  for (const std::string& column : columns) add(column, &column == &columns.back());
  std::size_t number = 0;
  for (const Json& row : rows) {
    ++number;
    require(row.is_object(), "row {}: expected an object of columns; got {}", number,
            row.type_name());
    for (const std::string& column : columns) {
      if (!row.contains(column)) {
        std::vector<std::string> keys;
        for (const auto& item : row.items()) keys.push_back(item.key());
        fail("row {} has no column '{}', from which the model learned{}", number, column,
             did_you_mean(column, keys));
      }
      const Json& value = row[column];
      require(value.is_primitive(),
              "row {}, column '{}': expected a number, a string or null; got "
              "an {}",
              number, column, value.type_name());
      add(value.is_null()     ? ""
          : value.is_string() ? value.get<std::string>()
                              : value.dump(),
          &column == &columns.back());
    }
  }
  return text;
}

/// How the text of csv_of() is read.
TableOptions as_json(TableOptions options) {
  options.separator = ',';
  options.decimal = '.';
  options.header = true;
  return options;
}

}  // namespace

RequestReader::RequestReader(const Model& model, std::vector<std::string> words)
    : model_(model), words_(std::move(words)) {}

DType RequestReader::type() const { return model_.network().definition().inputs[0].dtype; }

bool RequestReader::takes_images() const {
  const NetworkDefinition& network = model_.network().definition();
  const Shape sample = model_.sample_shape();
  return network.inputs.size() == 1 && network.inputs[0].dtype == DType::f32 &&
         sample.rank() == 3 && (sample[2] == 1 || sample[2] == 3);
}

std::vector<Sample> RequestReader::read(std::string_view content_type,
                                        const std::string& body) const {
  const std::string_view kind = content_type.substr(0, content_type.find(';'));
  if (kind.starts_with("image/")) return {image(body)};
  if (kind == "text/plain") return {text(body)};
  if (kind == "text/csv") return rows(body, model_.table().reading());
  require(kind == "application/json",
          "expected the Content-Type application/json, image/*, text/plain or text/csv; got '{}'",
          kind);
  return from_json(body);
}

Sample RequestReader::image(const std::string& body) const {
  require(takes_images(), "the model takes no images; its input is {}",
          to_string(model_.network().input_shape()));
  // f32, like numbers in JSON, so that both can be in one batch.
  const Tensor pixels = decode_image(std::as_bytes(std::span(body)), model_).to(DType::f32);
  return Sample({{model_.network().input_names()[0], pixels}});
}

Sample RequestReader::text(const std::string& text) const {
  require(takes_texts(), "the model takes no texts; its input is {}",
          to_string(model_.network().input_shape()));
  return Sample({{model_.network().input_names()[0],
                  encode_text(text, words_, model_.network().input_shape()[0])}});
}

std::vector<Sample> RequestReader::rows(const std::string& text,
                                        const TableOptions& options) const {
  require(takes_rows(), "the model takes no rows of a table; its input is {}",
          to_string(model_.network().input_shape()));
  const Table table = parse_table(text, "the rows", options);
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
  return samples;
}

std::vector<std::string> RequestReader::columns() const {
  if (!takes_series()) return model_.table().input_columns();
  const SeriesRecord& record = *model_.series().record();
  if (!record.header) return record.columns;  // which are known by their places
  std::vector<std::string> columns;
  for (const std::string& one : {record.entity, record.time}) {
    if (!one.empty()) columns.push_back(one);
  }
  for (const SeriesColumn& input : record.inputs) columns.push_back(input.column);
  return columns;
}

std::vector<Sample> RequestReader::json_rows(const Json& rows) const {
  require(rows.is_array(), "'rows' must be an array of objects; got {}", rows.type_name());
  if (rows.empty()) return {};
  return this->rows(csv_of(rows, columns()), as_json(model_.table().reading()));
}

Table RequestReader::read_series(std::string_view content_type, const std::string& body) const {
  const TableOptions reading = model_.series().reading();
  const std::string_view kind = content_type.substr(0, content_type.find(';'));
  if (kind == "text/csv") return parse_table(body, "the rows", reading);
  require(kind == "application/json",
          "a model of series forecasts after the rows of a table: expected the Content-Type "
          "text/csv or application/json; got '{}'",
          kind);
  const Json json = parsed(body);
  require(json.contains("rows"), "expected a key 'rows'");
  const Json& rows = json["rows"];
  require(rows.is_array() && !rows.empty(), "'rows' must be an array of objects, at least one");
  return parse_table(csv_of(rows, columns()), "the rows", as_json(reading));
}

Tensor RequestReader::sample_of(const Json& value, std::size_t input) const {
  const NetworkInput& wanted = model_.network().definition().inputs[input];
  std::vector<double> values;
  flatten(value, wanted.name, 0, values);
  require(std::ssize(values) == wanted.sample.elements(),
          "input '{}': expected {} numbers for a sample of {}; got {}", wanted.name,
          wanted.sample.elements(), to_string(wanted.sample), values.size());
  if (wanted.dtype == DType::i32) {
    for (const double number : values) {
      require(number == std::floor(number) && std::abs(number) <= std::numeric_limits<int>::max(),
              "input '{}': expected whole numbers (ids); got {}", wanted.name, number);
    }
    return tensor_of<std::int32_t>(values, wanted.sample);
  }
  for (const double number : values) {
    require(std::abs(number) <= std::numeric_limits<float>::max(),
            "input '{}': {} does not fit into 32 bits", wanted.name, number);
  }
  return tensor_of<float>(values, wanted.sample);
}

std::vector<Sample> RequestReader::from_json(const std::string& body) const {
  const Json json = parsed(body);
  std::vector<Sample> samples;
  if (json.contains("texts")) {
    require(json["texts"].is_array(), "'texts' must be an array of strings");
    for (const Json& one : json["texts"]) {
      require(one.is_string(), "'texts' must be an array of strings; it has {}", one.type_name());
      samples.push_back(text(one.get<std::string>()));
    }
    return samples;
  }
  if (json.contains("rows") && takes_rows()) return json_rows(json["rows"]);
  require(json.contains("inputs"), "expected a key 'inputs'{}",
          takes_texts()  ? " or 'texts'"
          : takes_rows() ? " or 'rows'"
                         : "");
  const auto& inputs = model_.network().definition().inputs;
  Json columns = json["inputs"];
  if (columns.is_array()) {
    require(inputs.size() == 1, "the network has {} inputs; 'inputs' must be an object of arrays",
            inputs.size());
    columns = Json{{inputs[0].name, columns}};
  }
  require(columns.is_object(), "'inputs' must be an array of samples; got {}", columns.type_name());
  for (const auto& item : columns.items()) {
    require(std::ranges::find(inputs, item.key(), &NetworkInput::name) != inputs.end(),
            "unknown input '{}'", item.key());
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = inputs[i].name;
    require(columns.contains(name) && columns[name].is_array(),
            "input '{}': expected an array of samples", name);
    if (i == 0) samples.resize(columns[name].size());
    require(columns[name].size() == samples.size(),
            "input '{}': expected {} samples, as the others have; got {}", name, samples.size(),
            columns[name].size());
    for (std::size_t n = 0; n < samples.size(); ++n) {
      samples[n].set(name, sample_of(columns[name][n], i));
    }
  }
  return samples;
}

Json RequestReader::description() const {
  Json json;
  json["takes"] = takes_images()   ? "images"
                  : takes_texts()  ? "texts"
                  : takes_rows()   ? "rows"
                  : takes_series() ? "series"
                                   : "numbers";
  if (takes_rows() || takes_series()) json["columns"] = columns();
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
