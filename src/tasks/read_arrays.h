// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/samples.h>

#include <filesystem>
#include <new>
#include <span>

#include "base/check.h"

namespace linnet {

/// Reads images, folders of them, IDX files and .npy arrays as read_samples() says.
Samples read_arrays(std::span<const std::filesystem::path> paths, const Model& model,
                    const ReadOptions& options);

/// Calls `read`, which reads a file; a lack of memory names it.
template <class F>
void in_memory_of(const std::filesystem::path& path, F&& read) {
  try {
    read();
  } catch (const std::bad_alloc&) {
    fail("out of memory while reading '{}': predict fewer files at a time", path.string());
  }
}

}  // namespace linnet
