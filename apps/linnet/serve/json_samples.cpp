// SPDX-License-Identifier: Apache-2.0
#include "serve/json_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "serve/request.h"

namespace linnet::command {
namespace {

template <class T>
Tensor tensor_of(const std::vector<double>& numbers, const Shape& sample) {
  std::vector<T> elements;
  elements.reserve(numbers.size());
  for (const double number : numbers) elements.push_back(static_cast<T>(number));
  return Tensor(std::move(elements), sample.batched(1));
}

/// Returns the dims that are not 1, in which alone the order of elements shows.
std::vector<std::int64_t> without_ones(std::vector<std::int64_t> dims) {
  std::erase(dims, 1);
  return dims;
}

}  // namespace

void JsonSample::value(const JsonEvent& event) {
  const std::string& name = input_.name;
  const bool array = event.kind == JsonKind::array;
  require(array || event.kind == JsonKind::number, "input '{}': expected numbers; got {}", name,
          to_string(event.kind));
  require(!array || level_ < kDeepest, "input '{}': expected arrays nested at most {} deep", name,
          kDeepest);
  const bool even =
      array ? number_level_ < 0 || level_ < number_level_
            : (number_level_ < 0 || level_ == number_level_) && std::ssize(dims_) <= level_;
  if (!even) {  // require() would write the shape for each number
    fail("input '{}': a sample mixes numbers and arrays; expected the shape {}", name,
         to_string(input_.sample));
  }
  ++counts_.back();
  if (array) {
    ++level_;
    counts_.push_back(0);
    if (std::ssize(dims_) < level_) dims_.push_back(-1);
    return;
  }
  number_level_ = level_;
  if (++count_ > input_.sample.elements()) return;
  if (input_.dtype == DType::i32) {
    require(event.number == std::floor(event.number) &&
                std::abs(event.number) <= std::numeric_limits<std::int32_t>::max(),
            "input '{}': expected whole numbers (ids); got {}", name, event.number);
  } else {
    require(std::abs(event.number) <= std::numeric_limits<float>::max(),
            "input '{}': {} does not fit into 32 bits", name, event.number);
  }
  if (numbers_.empty()) numbers_.reserve(static_cast<std::size_t>(input_.sample.elements()));
  numbers_.push_back(event.number);
}

void JsonSample::close() {
  std::int64_t& dim = dims_[static_cast<std::size_t>(level_ - 1)];
  if (dim >= 0 && dim != counts_.back()) {
    fail("input '{}': arrays of a sample have {} and {} elements; expected the shape {}",
         input_.name, dim, counts_.back(), to_string(input_.sample));
  }
  dim = counts_.back();
  counts_.pop_back();
  --level_;
}

void JsonSample::check_shape() const {
  const std::int64_t wanted = input_.sample.elements();
  const std::span<const std::int64_t> sample = input_.sample.dims();
  const bool flat = dims_.size() <= 1;
  require(!flat || count_ == wanted, "input '{}': expected {} numbers for a sample of {}; got {}",
          input_.name, wanted, to_string(input_.sample), count_);
  require(flat || without_ones(dims_) == without_ones({sample.begin(), sample.end()}),
          "input '{}': expected a sample of the shape {}, or its {} numbers in one array; got ({})",
          input_.name, to_string(input_.sample), wanted, fmt::join(dims_, ", "));
}

Tensor JsonSample::take() {
  check_shape();
  Tensor sample = input_.dtype == DType::i32 ? tensor_of<std::int32_t>(numbers_, input_.sample)
                                             : tensor_of<float>(numbers_, input_.sample);
  number_level_ = -1;
  counts_ = {0};
  dims_.clear();
  count_ = 0;
  numbers_.clear();
  return sample;
}

JsonSamples::JsonSamples(std::span<const NetworkInput> inputs, std::size_t most)
    : inputs_(inputs), most_(most), samples_(inputs.size()), found_(inputs.size()) {
  for (const NetworkInput& input : inputs) readers_.emplace_back(input);
}

void JsonSamples::value(const JsonEvent& event) {
  if (event.depth == 0) {
    require(event.kind == JsonKind::array || event.kind == JsonKind::object,
            "'inputs' must be an array of samples; got {}", to_string(event.kind));
    if (event.kind == JsonKind::object) {
      samples_depth_ = 2;
      return;
    }
    require(inputs_.size() == 1, "the network has {} inputs; 'inputs' must be an object of arrays",
            inputs_.size());
    found_[0] = true;
  } else if (event.depth < samples_depth_) {
    require(event.kind == JsonKind::array, "input '{}': expected an array of samples",
            inputs_[current_].name);
  } else {
    if (readers_[current_].done()) check_samples(samples_[current_].size() + 1, most_);
    readers_[current_].value(event);
    if (readers_[current_].done()) samples_[current_].push_back(readers_[current_].take());
  }
}

void JsonSamples::key(std::string_view name, int depth) {
  // Deeper, the reader of the sample has refused the object.
  LINNET_ASSERT(depth == 0);
  const auto at = std::ranges::find(inputs_, name, &NetworkInput::name);
  require(at != inputs_.end(), "unknown input '{}'", name);
  current_ = static_cast<std::size_t>(at - inputs_.begin());
  require(!found_[current_], "input '{}' stands twice in the body", name);
  found_[current_] = true;
}

void JsonSamples::close(int depth) {
  if (depth < samples_depth_) return;
  readers_[current_].close();
  if (readers_[current_].done()) samples_[current_].push_back(readers_[current_].take());
}

std::vector<Sample> JsonSamples::take() {
  std::vector<Sample> all(samples_[0].size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const std::string& name = inputs_[i].name;
    require(found_[i], "input '{}': expected an array of samples", name);
    require(samples_[i].size() == all.size(),
            "input '{}': expected {} samples, as the others have; got {}", name, all.size(),
            samples_[i].size());
    for (std::size_t n = 0; n < all.size(); ++n) all[n].set(name, std::move(samples_[i][n]));
  }
  return all;
}

}  // namespace linnet::command
