// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/error.h>
#include <linnet/model.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "report/json.h"
#include "serve/batcher.h"
#include "tasks/task.h"

namespace linnet::command {

/// Reports a request that is larger than the server's limits allow, now and later.
class TooLarge : public Error {
 public:
  using Error::Error;
};

/// Reports a body whose media type the model does not take.
class WrongType : public Error {
 public:
  using Error::Error;
};

/// Says how large what is made of a request may become.
struct RequestLimits {
  std::size_t samples = 1024;
  std::size_t body = std::size_t{8} << 20;  ///< a table may need as many bytes, whatever its size
  std::size_t bytes = std::size_t{128} << 20;  ///< that one request may need in all
};

/// Is called with at most how many bytes reading a request takes, with its samples and answers,
/// before they are taken. May throw.
using Reserve = std::function<void(std::size_t bytes)>;

/// What a table has at most, whatever parts its fields.
struct TableSize {
  std::size_t records = 1;
  std::size_t fields = 1;
};

/// What a body was read as.
struct ReadSamples {
  std::vector<Sample> samples = {};
  std::vector<std::vector<std::string>> notes = {};  ///< of each row of a table, else empty
};

/// Throws TooLarge for more samples than a request may have.
void check_samples(std::size_t samples, std::size_t most);

/// Reads bodies of requests as samples of a model. What it needs is bounded before it is made.
/// Thread-safe.
class RequestReader {
 public:
  /// Keeps a reference to the model. `words`: of a text model's training, else empty.
  RequestReader(const Model& model, std::vector<std::string> words, const RequestLimits& limits);

  /// Reads a body by its media type, in lower case, after one call of `reserve`:
  /// - image/*: one image, as the training's evaluations see it;
  /// - text/plain: one text;
  /// - text/csv: raw rows of a table, as `linnet predict` reads files of them;
  /// - application/json: {"inputs": [sample, ...]} with arrays of numbers, flat or nested as the
  ///   input's shape, for networks of several inputs {"inputs": {"name": [sample, ...], ...}}; or
  ///   {"texts": [...]}, or raw rows of a table, {"rows": [{"column": value, ...}, ...]}, null for
  ///   a missing value.
  /// Throws Error saying what is wrong with it, TooLarge and WrongType among them.
  ReadSamples read(std::string_view type, const std::string& body, const Reserve& reserve) const;

  /// Reads a body as the last rows of series, which a forecast follows: text/csv, or
  /// application/json with {"rows": [{"column": value, ...}, ...]}. Throws as read() does.
  Table read_series(std::string_view type, const std::string& body, const Reserve& reserve) const;

  /// Returns how many bytes a sample and its answer take.
  std::size_t sample_memory() const;

  /// Returns the type of the first input's samples that read() makes.
  DType type() const;
  const Task& task() const { return task_; }

  /// Returns what a page or a program must know to ask: inputs, their shapes, class names.
  Json description() const;

 private:
  /// Calls `reserve`. Throws TooLarge for more than a request may need; `what` needs them.
  void hold(std::size_t bytes, std::string_view what, const Reserve& reserve) const;
  Sample image(const std::string& body, const Reserve& reserve) const;
  Sample text(std::string_view text) const;
  ReadSamples from_json(const std::string& body, const Reserve& reserve) const;
  /// Returns the rows of a text of delimited fields.
  ReadSamples rows(std::string text, const TableOptions& options) const;
  /// Returns how many columns a table may have: some more than the training's.
  std::size_t most_columns() const;
  /// Returns at most how many bytes reading a table of a body takes. Throws TooLarge for more than
  /// a body of that size may.
  std::size_t table_memory(const TableSize& size, std::size_t body) const;
  /// Returns what the table of a body's "rows" has at most.
  TableSize size_of_rows(const std::string& body) const;
  std::size_t series_memory(std::size_t rows) const;
  std::size_t most_samples(const std::string& body) const;
  std::size_t input_memory() const;  ///< of a sample

  const Model& model_;
  std::vector<std::string> words_;
  const Task& task_;
  bool takes_rows_ = false;  ///< which are samples
  RequestLimits limits_;
};

}  // namespace linnet::command
