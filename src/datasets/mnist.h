// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <filesystem>

namespace linnet {

/// Returns whether a folder holds any of the four files of MNIST (train-images-idx3-ubyte, also
/// with a dot before idx3, also .gz).
bool holds_mnist(const std::filesystem::path& folder);

/// Returns the four IDX files of a folder: "image" (rows, columns, 1) u8 and "label". The classes
/// are named by `classes.txt` (one name a line) if it is there, else "0", "1", ... up to the
/// largest label. Throws Error where a file is missing or damaged, or where two of them disagree.
Splits load_mnist(const std::filesystem::path& folder);

}  // namespace linnet
