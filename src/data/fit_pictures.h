// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

namespace linnet {

/// Returns the data set with its pictures (height, width, channels) as evaluations fit them to a
/// network that takes `input`: the middle, or where a side is smaller all of it resized (u8 alone).
/// Data of the right shape, of other channels and of no pictures stay as they are.
Dataset fit_pictures(Dataset data, const Shape& input);

}  // namespace linnet
