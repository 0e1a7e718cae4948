// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cudnn_batch_norm.h"

#include <fmt/format.h>

namespace linnet::cuda {

std::vector<std::size_t> CudnnBatchNorm::operand_bytes() const {
  const std::size_t vector = sizeof(float) * static_cast<std::size_t>(c);
  const std::size_t image = vector * static_cast<std::size_t>(rows());
  std::vector<std::size_t> bytes;
  if (direction == Direction::gradient) {
    bytes = {image, image, vector, vector, vector};
    if (relu) bytes.push_back(image);
    bytes.insert(bytes.end(), {image, vector, vector});
    if (residual) bytes.push_back(image);
    return bytes;
  }
  bytes = {image, vector, vector, vector, vector};
  if (residual) bytes.push_back(image);
  bytes.insert(bytes.end(), {image, vector, vector, vector, vector});
  return bytes;
}

std::string CudnnBatchNorm::describe() const {
  const bool gradient = direction == Direction::gradient;
  std::string text = fmt::format("batch_norm{} x=({}, {}, {}, {}){}{}", gradient ? "_grad" : "", n,
                                 h, w, c, residual ? " + residual" : "", relu ? " + relu" : "");
  if (!gradient) text += fmt::format(", epsilon {}, momentum {}", epsilon, momentum);
  return text;
}

}  // namespace linnet::cuda
