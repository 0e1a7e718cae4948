// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <filesystem>

namespace linnet {

/// Whether a folder holds folders of images, or a train/ folder that does.
bool holds_image_folders(const std::filesystem::path& root);

/// Images by class: root/class/*.{png,jpg,jpeg,bmp}, in a folder train/ beside test/ or val/ (test/
/// if both are there), or straight under the root, which is then all training part. Classes are
/// the folders of the training part in order of their names; other files are passed over.
/// Samples are (height, width, channels) u8, grey pictures become RGB if any picture is RGB.
/// Throws Error for a class without images, a test class unknown to training, a damaged or
/// unreadable picture, and pictures of different sizes (naming the first two).
DatasetPair load_image_folders(const std::filesystem::path& root);

}  // namespace linnet
