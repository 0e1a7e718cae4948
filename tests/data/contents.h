// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data_sets.h"

namespace linnet::test {

/// Returns what a data set of one input and one target holds; empty where that is of another type.
template <class T>
std::vector<T> elements_of(const std::vector<Column>& columns) {
  if (columns.empty() || columns[0].dtype() != dtype_of<T>()) return {};
  return testing::vector_of<T>(columns[0].data);
}

inline std::vector<std::uint8_t> bytes(const Dataset& data) {
  return elements_of<std::uint8_t>(data.inputs());
}
/// Bytes [first, first + count) of all samples.
inline std::vector<std::uint8_t> bytes(const Dataset& data, std::size_t first, std::size_t count) {
  const auto part = data.inputs().at(0).data.as<std::uint8_t>().subspan(first, count);
  return {part.begin(), part.end()};
}
inline std::vector<float> floats(const Dataset& data) { return elements_of<float>(data.inputs()); }
inline std::vector<std::int32_t> ids(const Dataset& data) {
  return elements_of<std::int32_t>(data.inputs());
}
inline std::vector<std::int32_t> labels(const Dataset& data) {
  return elements_of<std::int32_t>(data.targets());
}
inline std::vector<float> values(const Dataset& data) { return elements_of<float>(data.targets()); }
inline Shape sample_shape(const Dataset& data) { return data.inputs().at(0).record(); }
inline Shape value_shape(const Dataset& data) { return data.targets().at(0).record(); }
inline std::int64_t classes(const Dataset& data) { return std::ssize(data.classes()); }

}  // namespace linnet::test
