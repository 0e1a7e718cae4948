// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/record_source.h>
#include <linnet/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace linnet {

/// One more input or target of every sample: N records of `shape`, row-major.
struct Column {
  std::string name;  ///< the network's name of the input or output that it belongs to
  Shape shape = {};  ///< of a record
  DType dtype = DType::f32;
  std::vector<std::uint8_t> bytes = {};  ///< if u8
  std::vector<float> floats = {};        ///< if f32
  std::vector<std::int32_t> ids = {};    ///< if i32: ids, or the labels of a target

  std::span<const std::byte> data() const;
};

/// A data set in host memory. Pixels stay uint8 and become floats only in the gather of a batch.
///
/// samples: N records of sample_shape, row-major, in u8, f32 or i32.
/// targets: either `labels` (N class indices in [0, classes)) or `values` (N records of
/// value_shape, f32); the other one is empty.
struct Dataset {
  std::string name;
  Shape sample_shape;                    ///< without the batch, e.g. (28, 28, 1)
  DType sample_dtype = DType::u8;        ///< u8, f32 or i32
  std::vector<std::uint8_t> bytes;       ///< the samples, if u8
  std::vector<float> floats;             ///< the samples, if f32
  std::vector<std::int32_t> ids;         ///< the samples, if i32: rows of an Embedding
  std::vector<std::int32_t> labels;      ///< classification targets
  Shape value_shape;                     ///< of one regression target
  std::vector<float> values;             ///< regression targets
  std::vector<std::string> class_names;  ///< one per class; its size is the number of classes
  /// For networks of several inputs and outputs: what belongs to all but the first of each, by
  /// name. An output that has no target here has no loss.
  std::vector<Column> more_inputs;
  std::vector<Column> more_targets;  ///< f32 values, or i32 labels of shape ()
  /// The samples, if they are not in memory: `bytes`, `floats` and `ids` are then empty. Everything
  /// reads such a data set batch by batch, on every device.
  std::shared_ptr<const RecordSource> source = {};
  /// Files that were left out because they could not be read: path and reason.
  std::vector<std::string> bad_files = {};

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
/// Sequences of ids (words, categories); N is labels.size().
Dataset make_dataset(Shape sample_shape, std::span<const std::int32_t> samples,
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

/// What becomes of an image file that can't be read or decoded.
enum class OnBadImage : std::uint8_t {
  stop,  ///< Error, naming the file
  /// Left out, and named in Dataset::bad_files. So that every run and every epoch sees the same
  /// samples, all files are decoded once when the data set is opened.
  skip,
};

/// How image files (folders of images by class, chest X-rays) become samples.
struct DatasetOptions {
  /// Opens no more than the list of files: images are decoded when a batch needs them. Data of
  /// other kinds are read into memory all the same.
  bool streamed = false;
  /// (height, width): images of another size are resized to it, bilinear and smoothed as Pillow
  /// does it. (): as the first image, and an image of another size is bad.
  Shape size = {};
  OnBadImage on_bad_image = OnBadImage::stop;
  int threads = 0;         ///< that decode at loading; 0: all processors
  std::uint64_t seed = 0;  ///< of a split by patient
};

/// The same with options; a streamed data set has the samples of a resident one, bit for bit. The
/// first image says whether all are grey or in colour: grey is written three times, colour becomes
/// luma. Chest X-rays always have three channels.
DatasetPair load_dataset(const std::filesystem::path& path, const DatasetOptions& options);

/// Fashion-MNIST: from `cache` (if it holds the files), else Debian's package
/// dataset-fashion-mnist, else downloaded into `cache` and checked by SHA-256. Throws Error where
/// none of these works; then digits() is the way on.
DatasetPair load_fashion_mnist(const std::filesystem::path& cache);

/// Procedural images of the ten digits, (28, 28, 1) u8, drawn by strokes with random slant, size,
/// thickness, position and noise. A function of the seed alone.
DatasetPair make_digits(std::int64_t train, std::int64_t test, std::uint64_t seed);

}  // namespace linnet
