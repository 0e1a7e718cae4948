// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstddef>
#include <cstdint>

namespace linnet {

/// Returns the data set with the images (height, width, channels) of an input as evaluations fit
/// them to a network that takes `input`: the middle, or where a side is smaller all of it resized
/// (u8 alone). Data of the right shape, of other channels and of no images stay as they are.
Dataset fit_images(Dataset data, const Shape& input, std::size_t index = 0);

/// Does the same for images that are smaller alone; a step crops the larger ones as it gathers
/// them.
Dataset resize_smaller(Dataset data, const Shape& input, std::size_t index);

/// centre_crop() of another input than the first.
Dataset centre_crop_input(const Dataset& data, std::size_t index, std::int64_t height,
                          std::int64_t width);

}  // namespace linnet
