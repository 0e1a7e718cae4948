// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/export.h>

#include <cstdint>
#include <filesystem>
#include <functional>

LINNET_API_BEGIN
namespace linnet {

/// Names the formats of save_dataset().
enum class SaveFormat : std::uint8_t {
  idx,     ///< the four files of MNIST
  cifar,   ///< the binary files of CIFAR-10 or CIFAR-100
  images,  ///< a folder of image files for each class
  npy,     ///< arrays of NumPy
};

/// Names the formats of the image files that save_dataset() writes.
enum class ImageFormat : std::uint8_t {
  png,  ///< compressed without loss
  bmp,  ///< not compressed
};

/// Says how save_dataset() writes.
struct SaveOptions {
  ImageFormat image_format = ImageFormat::png;  ///< format of the files of SaveFormat::images
  /// Called with the number of samples written and the number of all samples. An exception that it
  /// throws ends the writing.
  std::function<void(std::int64_t done, std::int64_t samples)> progress = {};
};

/// Writes the training set and the test set as a new folder that load_dataset() reads, whole or not
/// at all.
/// - idx: the four files of MNIST and classes.txt. Takes (H, W, 1) u8 with at most 256 classes.
/// - cifar: CIFAR-10's or CIFAR-100's binary files. Takes (32, 32, 3) u8 with 10 or 100 classes,
///   and a test set; the coarse labels of CIFAR-100 are written as 0.
/// - images: train/CLASS/NUMBER.png (or .bmp), test/ too, and classes.txt. Takes (H, W, 1 or 3) u8
///   with labels. When the folder is read, samples are in the order of classes.
/// - npy: x_train.npy, y_train.npy, those of the test set, and classes.txt. Takes every data set
/// with one input and one target.
///
/// Throws Error if the folder exists, if the format cannot hold the data (with the reason), or if a
/// file cannot be written.
void save_dataset(const Splits& splits, const std::filesystem::path& folder, SaveFormat format,
                  const SaveOptions& options = {});

}  // namespace linnet
LINNET_API_END
