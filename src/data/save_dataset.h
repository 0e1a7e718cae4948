// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstdint>
#include <filesystem>
#include <functional>

#include "data/staged_folder.h"

namespace linnet {

enum class SaveFormat : std::uint8_t { idx, cifar, images, npy };
enum class PictureFormat : std::uint8_t { png, bmp };

struct SaveOptions {
  PictureFormat picture = PictureFormat::png;
  /// Told how many of how many samples are written; what it throws ends the writing.
  std::function<void(std::int64_t done, std::int64_t samples)> progress = {};
};

/// Writes the training set and the test set as a new folder that load_dataset() reads, whole or not
/// at all.
/// - idx: the four files of MNIST and classes.txt. Takes (H, W, 1) u8 with at most 256 classes.
/// - cifar: CIFAR-10's or CIFAR-100's binary files. Takes (32, 32, 3) u8 with 10 or 100 classes,
///   and a test part; the coarse labels of CIFAR-100 are written as 0.
/// - images: train/CLASS/NUMBER.png (or .bmp), test/ too, and classes.txt. Takes (H, W, 1 or 3) u8
///   with labels. Read again, samples come class by class.
/// - npy: x_train.npy, y_train.npy, those of the test part, and classes.txt. Takes every data set
///   of one input and one target.
/// Throws Error where the folder is there already, where the format can't hold the data (saying
/// why), or where a file can't be written.
void save_dataset(const Splits& splits, const std::filesystem::path& folder, SaveFormat format,
                  const SaveOptions& options = {});

// Each fills a folder that is not in its place yet.
void save_idx(const Splits& splits, const StagedFolder& folder, const SaveOptions& options);
void save_cifar(const Splits& splits, const StagedFolder& folder, const SaveOptions& options);
void save_images(const Splits& splits, const StagedFolder& folder, const SaveOptions& options);
void save_npy(const Splits& splits, const StagedFolder& folder, const SaveOptions& options);

/// Writes classes.txt; nothing where there are no names. Throws Error for a name that a line can't
/// hold.
void save_class_names(const Dataset& data, const StagedFolder& folder);

}  // namespace linnet
