// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace linnet::testing {

/// Rows of `record`, as many as the values make: (N, record...).
template <Element T>
Tensor records(std::vector<T> values, const Shape& record = {}) {
  const std::int64_t count = static_cast<std::int64_t>(values.size()) / record.elements();
  return Tensor(std::move(values), record.batched(count));
}

/// One input "x" and one target "y".
inline Dataset data_of(Tensor x, Tensor y) {
  return Dataset({{"x", std::move(x)}}, {{"y", std::move(y)}});
}

/// The first input and the first target, in the data set's own memory: what is written there is in
/// all data sets that share it.
inline Tensor first_input(const Dataset& data) { return data.inputs().at(0).data; }
inline Tensor first_target(const Dataset& data) { return data.targets().at(0).data; }

/// The elements, copied.
template <Element T = float>
std::vector<T> vector_of(const Tensor& tensor) {
  const auto elements = tensor.as<T>();
  return {elements.begin(), elements.end()};
}

}  // namespace linnet::testing
