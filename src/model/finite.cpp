// SPDX-License-Identifier: Apache-2.0
#include "model/finite.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/finite.h"

namespace linnet {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 18;  // numbers that are downloaded at once

template <class T>
std::string ruined_weight_of(const ModelState& model) {
  std::vector<T> values;
  for (const ParameterSpec& spec : model.definition().parameters) {
    const auto elements = static_cast<std::size_t>(spec.shape.elements());
    for (std::size_t begin = 0; begin < elements; begin += kPiece) {
      values.resize(std::min(kPiece, elements - begin));
      model.backend->download(model.buffer_of(spec), spec.offset + begin * sizeof(T),
                              std::as_writable_bytes(std::span(values)));
      if (first_not_finite(values) < values.size()) return spec.name;
    }
  }
  return "";
}

}  // namespace

std::string ruined_weight(const ModelState& model) {
  return computes_in_f64(model) ? ruined_weight_of<double>(model) : ruined_weight_of<float>(model);
}

}  // namespace linnet
