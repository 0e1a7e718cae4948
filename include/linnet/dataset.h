// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/types.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace linnet {

/// A data set in host memory. Pixels stay uint8 and become floats only in the gather of a batch.
///
/// samples: N records of sample_shape, row-major, in u8 or f32.
/// targets: either `labels` (N class indices in [0, classes)) or `values` (N records of
/// value_shape, f32); the other one is empty.
struct Dataset {
  std::string name;
  Shape sample_shape;                    ///< without the batch, e.g. (28, 28, 1)
  DType sample_dtype = DType::u8;        ///< u8 or f32
  std::vector<std::uint8_t> bytes;       ///< the samples, if u8
  std::vector<float> floats;             ///< the samples, if f32
  std::vector<std::int32_t> labels;      ///< classification targets
  Shape value_shape;                     ///< of one regression target
  std::vector<float> values;             ///< regression targets
  std::vector<std::string> class_names;  ///< one per class; its size is the number of classes

  std::int64_t size() const;
  std::int64_t classes() const { return static_cast<std::int64_t>(class_names.size()); }
  /// Throws Error where sizes disagree or a label is outside [0, classes).
  void validate() const;
};

/// A training part and a test part; either may be empty.
struct DatasetPair {
  Dataset train;
  Dataset test;
};

/// Arrays in memory. `samples` holds N records of sample_shape; N is labels.size().
Dataset make_dataset(Shape sample_shape, std::span<const std::uint8_t> samples,
                     std::span<const std::int32_t> labels);
Dataset make_dataset(Shape sample_shape, std::span<const float> samples,
                     std::span<const std::int32_t> labels);
/// Regression: N records of value_shape beside N records of sample_shape.
Dataset make_dataset(Shape sample_shape, std::span<const float> samples, Shape value_shape,
                     std::span<const float> values);

/// Reads what lies at `path`, by its contents:
/// - a folder with the four MNIST-style IDX files (plain or .gz),
/// - a folder with CIFAR-10 or CIFAR-100 binary batches (or a folder that holds such a folder),
/// - a folder with `train/` and `test/` (or `val/`) trees of images by class, or one tree of
/// classes
///   (then everything is `train`).
/// Throws Error naming the file, and what was expected and found there.
DatasetPair load_dataset(const std::filesystem::path& path);

/// Fashion-MNIST: from `cache` (if it holds the files), else Debian's package
/// dataset-fashion-mnist, else downloaded into `cache` and checked by SHA-256. Throws Error where
/// none of these works; then digits() is the way on.
DatasetPair load_fashion_mnist(const std::filesystem::path& cache);

/// Procedural images of the ten digits, (28, 28, 1) u8, drawn by strokes with random slant, size,
/// thickness, position and noise. A function of the seed alone.
DatasetPair make_digits(std::int64_t train, std::int64_t test, std::uint64_t seed);

}  // namespace linnet
