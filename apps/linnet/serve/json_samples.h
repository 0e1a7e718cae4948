// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nn/definition.h"
#include "serve/batcher.h"
#include "serve/json_sections.h"

namespace linnet::command {

/// Reads one sample of an input: its numbers as one array, or as nested arrays of its shape, in
/// which axes of 1 may be missing.
class JsonSample {
 public:
  explicit JsonSample(const NetworkInput& input) : input_(input) {}

  void value(const JsonEvent& event);
  void close();
  /// Returns whether the value that began is complete.
  bool done() const { return level_ == 0; }
  /// Returns the sample (1, ...), and begins the next one. Throws Error for another shape, naming
  /// it.
  Tensor take();

 private:
  static constexpr int kDeepest = 8;  // as many axes as a Shape has at most

  void check_shape() const;

  const NetworkInput& input_;
  int level_ = 0;                        // arrays that are open
  int number_level_ = -1;                // of all numbers; -1: none yet
  std::vector<std::int64_t> counts_{0};  // of what each open array holds so far
  std::vector<std::int64_t> dims_;       // of the arrays of each level; -1: none is complete
  std::int64_t count_ = 0;               // numbers
  std::vector<double> numbers_;          // as many as a sample has at most
};

/// Reads "inputs": an array of samples, or for several inputs an object of such arrays.
class JsonSamples final : public JsonSection {
 public:
  /// Keeps references. `most`: samples.
  JsonSamples(std::span<const NetworkInput> inputs, std::size_t most);

  void value(const JsonEvent& event) override;
  void key(std::string_view name, int depth) override;
  void close(int depth) override;
  /// Throws Error where an input has other samples than the first one.
  std::vector<Sample> take();

 private:
  std::span<const NetworkInput> inputs_;
  std::size_t most_;
  std::vector<JsonSample> readers_;           // of each input
  std::vector<std::vector<Tensor>> samples_;  // of each input
  std::vector<bool> found_;                   // the inputs that are there
  std::size_t current_ = 0;
  int samples_depth_ = 1;  // of samples
};

}  // namespace linnet::command
