// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace linnet {

/// Returns whether a folder holds one of x_train.npy, y_train.npy, x_test.npy and y_test.npy.
bool holds_npy(const std::filesystem::path& folder);

/// Pairs of arrays x (N, ...) and y (N, ...) by NumPy; the test pair may be missing.
/// x: as Dataset takes it, i8 only where its numbers fit into i32; u8 of (N, H, W) are grey images
/// and become (H, W, 1). y: whole numbers of (N) or (N, 1) are labels, all others are values, f32,
/// of the shape after N, or (1). Classes are named by classes.txt if it is there, else "0", "1",
/// ... up to the largest label; `ignored_label` is none of them and may be negative.
/// Throws Error naming the file: missing, damaged, of another length or shape than its neighbour.
Splits load_npy_folder(const std::filesystem::path& folder,
                       std::optional<std::int32_t> ignored_label = {});

}  // namespace linnet
