// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstddef>
#include <string_view>

namespace linnet {

/// Returns at most how many bytes decode_image() and put_image_sample() take to make a sample of
/// `record` (height, width, channels) of a file, by what its header says. 0: no header that
/// decode_image() reads.
std::size_t image_memory(std::string_view file, const ImageReading& reading, const Shape& record);

}  // namespace linnet
