// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>
#include <linnet/series_transform.h>
#include <linnet/table_transform.h>

#include <string>
#include <string_view>
#include <vector>

#include "report/json.h"
#include "serve/batcher.h"

namespace linnet::command {

/// Reads bodies of requests as samples of a model. Thread-safe.
class RequestReader {
 public:
  /// Keeps a reference to the model. `words`: of a text model's training, else empty.
  RequestReader(const Model& model, std::vector<std::string> words);

  /// Reads a body by its content type:
  /// - image/*: one image, as the training's evaluations see it;
  /// - text/plain: one text;
  /// - text/csv: raw rows of a table, as `linnet predict` reads files of them;
  /// - application/json: {"inputs": [sample, ...]} with nested or flat arrays of numbers, for
  ///   networks of several inputs {"inputs": {"name": [sample, ...], ...}}; or {"texts": [...]}, or
  ///   raw rows of a table, {"rows": [{"column": value, ...}, ...]}, null for a missing value.
  /// Throws Error saying what is wrong with it.
  std::vector<Sample> read(std::string_view content_type, const std::string& body) const;

  /// Reads a body as the last rows of series, which a forecast follows: text/csv, or
  /// application/json with {"rows": [{"column": value, ...}, ...]}. Throws as read() does.
  Table read_series(std::string_view content_type, const std::string& body) const;

  /// Returns the type of the first input's samples that read() makes.
  DType type() const;
  bool takes_images() const;
  bool takes_texts() const { return !words_.empty(); }
  bool takes_rows() const { return !model_.table().empty(); }
  bool takes_series() const { return !model_.series().empty(); }

  /// Returns what a page or a program must know to ask: inputs, their shapes, class names.
  Json description() const;

 private:
  Sample image(const std::string& body) const;
  Sample text(const std::string& text) const;
  std::vector<Sample> from_json(const std::string& body) const;
  /// Returns the rows of a text of delimited fields.
  std::vector<Sample> rows(const std::string& text, const TableOptions& options) const;
  std::vector<Sample> json_rows(const Json& rows) const;
  /// Returns the columns that rows have.
  std::vector<std::string> columns() const;
  Tensor sample_of(const Json& value, std::size_t input) const;

  const Model& model_;
  std::vector<std::string> words_;
};

}  // namespace linnet::command
