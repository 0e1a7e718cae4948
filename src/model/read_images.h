// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tensor.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "data/image_source.h"

namespace linnet {

/// Places and reasons of files that can't be read.
using BadFiles = std::vector<std::pair<std::int64_t, std::string>>;

/// Reads image files as u8 (N, samples...) on so many threads (0: all processors). The pixels of
/// bad files are undefined; without `bad`, throws DataError naming the first. Throws Error for
/// samples that are no images.
Tensor read_images(const std::vector<std::filesystem::path>& files, const Shape& sample,
                   const ImageFit& fit, int threads, BadFiles* bad = nullptr);

}  // namespace linnet
