// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tensor.h>

#include <filesystem>
#include <vector>

#include "data/image_source.h"

namespace linnet {

/// Reads image files as u8 (N, samples...) on so many threads (0: all processors). Throws DataError
/// naming the first file that cannot be read, and Error for samples that are no images.
Tensor read_images(const std::vector<std::filesystem::path>& files, const Shape& sample,
                   const ImageFit& fit, int threads);

}  // namespace linnet
