// SPDX-License-Identifier: Apache-2.0
#include "model/finite.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/finite.h"

namespace linnet {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 18;  // floats that are downloaded at once

}  // namespace

std::string ruined_weight(const ModelState& model) {
  std::vector<float> values;
  for (const ParameterSpec& spec : model.definition().parameters) {
    const auto elements = static_cast<std::size_t>(spec.shape.elements());
    for (std::size_t begin = 0; begin < elements; begin += kPiece) {
      values.resize(std::min(kPiece, elements - begin));
      model.backend->download(model.buffer_of(spec), spec.offset + begin * sizeof(float),
                              std::as_writable_bytes(std::span(values)));
      if (!all_finite(values)) return spec.name;
    }
  }
  return "";
}

}  // namespace linnet
