// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <string>
#include <vector>

namespace linnet::command {

/// What a model is asked about: samples without targets, and a name for each.
struct Inputs {
  Dataset data;
  std::vector<std::string> names;  ///< "cat.png", or "t10k-images[17]" for files of many samples
};

/// Reads pictures (PNG, JPEG, BMP), folders of them (with their subfolders, by name), IDX files of
/// pictures (plain or .gz) and .npy arrays, told apart by content, as samples of shape `sample`.
/// Grey becomes RGB, and RGB its luminance (ITU-R BT.601), where the model wants the other one.
/// Throws Error naming the file, its shape and the model's.
Inputs read_inputs(const std::vector<std::string>& paths, const Shape& sample);

}  // namespace linnet::command
