// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/record_source.h>
#include <linnet/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
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
  /// Of texts: the words of the ids from 3 on, the most frequent first (0 pads, 1 starts a text, 2
  /// is any other word).
  std::vector<std::string> words = {};
  /// For networks of several inputs and outputs: what belongs to all but the first of each, by
  /// name. An output that has no target here has no loss.
  std::vector<Column> more_inputs;
  std::vector<Column> more_targets;  ///< f32 values, or i32 labels of shape ()
  /// The samples, if they are not in memory: `bytes`, `floats` and `ids` are then empty. Everything
  /// reads such a data set batch by batch, on every device.
  std::shared_ptr<const RecordSource> source = {};
  /// Files that were left out because they could not be read: path and reason.
  std::vector<std::string> bad_files = {};
  /// The files whose records these are, one for one, so that errors can name them; empty: none.
  std::filesystem::path samples_file = {};
  std::filesystem::path targets_file = {};
  /// Sentences on what was decided while reading, e.g. that grey images are read in colour.
  std::vector<std::string> notes = {};

  std::int64_t size() const;
  std::int64_t classes() const { return static_cast<std::int64_t>(class_names.size()); }
  /// Throws Error where sizes disagree, a label is outside [0, classes), or a class name is not
  /// UTF-8. The label that a loss ignores (LossOptions::ignore_index) may be outside.
  void validate(std::optional<std::int32_t> ignored_label = {}) const;
  /// The part of validate() that concerns the samples and `more_inputs`; returns their number. The
  /// data set needs no targets.
  std::int64_t validate_inputs() const;
};

/// A training part and a test part, and what is held out while training where the data say which
/// samples that are (chest X-rays); each may be empty.
struct DatasetPair {
  Dataset train;
  Dataset test;
  Dataset validation = {};
};

/// Arrays in memory. `samples` holds N records of sample_shape; N is labels.size(). Labels are
/// class indices, or the one that a loss will ignore.
Dataset make_dataset(Shape sample_shape, std::span<const std::uint8_t> samples,
                     std::span<const std::int32_t> labels,
                     std::optional<std::int32_t> ignored_label = {});
Dataset make_dataset(Shape sample_shape, std::span<const float> samples,
                     std::span<const std::int32_t> labels,
                     std::optional<std::int32_t> ignored_label = {});
/// Sequences of ids (words, categories); N is labels.size().
Dataset make_dataset(Shape sample_shape, std::span<const std::int32_t> samples,
                     std::span<const std::int32_t> labels,
                     std::optional<std::int32_t> ignored_label = {});
/// Regression: N records of value_shape beside N records of sample_shape.
Dataset make_dataset(Shape sample_shape, std::span<const float> samples, Shape value_shape,
                     std::span<const float> values);

/// What becomes of an image file that can't be read or decoded.
enum class OnBadImage : std::uint8_t {
  stop,  ///< Error, naming the file
  /// Left out, and named in Dataset::bad_files. So that every run and every epoch sees the same
  /// samples, all files are decoded once when the data set is opened.
  skip,
};

/// How data in files become samples.
struct DatasetOptions {
  /// Reads no more than the list of files and, unless `channels` is given, their headers: images
  /// are decoded when a batch needs them. Data of other kinds are read into memory all the same.
  bool streamed = false;
  /// (height, width): images of another size are resized to it, bilinear and smoothed as Pillow
  /// does it. (): as the first image, and an image of another size is bad.
  Shape size = {};
  /// Of images: 1 (grey; a colour becomes its luma) or 3 (grey is written three times). 0: 3 if any
  /// image of the data set has colour, else 1; chest X-rays: 3.
  std::int64_t channels = 0;
  OnBadImage on_bad_image = OnBadImage::stop;
  int threads = 0;             ///< that decode images at loading; 0: all processors
  std::uint64_t seed = 0;      ///< of a split by patient
  bool coarse_labels = false;  ///< of CIFAR-100
  /// The words of texts by rank, as Dataset::words of another data set; none: the most frequent
  /// ones of the training part.
  std::vector<std::string> words = {};
  /// The one label outside the classes that .npy targets may hold, see Dataset::validate().
  std::optional<std::int32_t> ignored_label = {};
  /// At most so many training samples, spread evenly over those that there are; 0: all. Not of
  /// images that are streamed. Of CIFAR the others are looked at and never held.
  std::int64_t train_samples = 0;
  bool test = true;  ///< false: the test part is left away
};

/// Reads what lies at `path`, by its contents:
/// - a folder with the four MNIST-style IDX files (plain or .gz),
/// - a folder with CIFAR-10 or CIFAR-100 binary batches,
/// - a folder with x_train.npy and y_train.npy, perhaps x_test.npy and y_test.npy,
/// - IMDB reviews: train.tsv and test.tsv (also .gz, .xz) or the folders of aclImdb,
/// - chest X-rays: images beside Data_Entry_2017.csv or labels.csv, split by patient,
/// - a folder with `train/` and `test/` (or `val/`) trees of images by class, or one tree of
///   classes (then everything is `train`),
/// or a folder that holds one such folder (but images by class).
///
/// Images are read as stored: no EXIF orientation is applied (as torchvision's ImageFolder), and a
/// PNG's gamma and colour profile change nothing. Where some are grey and some in colour, all are
/// read in colour and Dataset::notes says so (see DatasetOptions::channels). A streamed data set
/// has the samples of a resident one, bit for bit.
/// Throws Error naming the file, and what was expected and found there; also for an option that has
/// no meaning for what lies there (size, coarse_labels).
DatasetPair load_dataset(const std::filesystem::path& path, const DatasetOptions& options = {});

/// Returns the data set with its targets as a model of the classes `class_names` counts them, by
/// name: labels, or the columns of values where each class has one. Data without names of their own
/// (none, or "0", "1", ...) stay as they are. Throws Error listing the names that are not among
/// `class_names`, and for values those that the data lack. evaluate(), evaluate_metrics() and
/// train() do this by themselves.
Dataset with_class_names(Dataset data, const std::vector<std::string>& class_names);

/// Fashion-MNIST: from `cache` (if it holds the files), else Debian's package
/// dataset-fashion-mnist, else downloaded into `cache` and checked by SHA-256. Throws Error where
/// none of these works; then digits() is the way on.
DatasetPair load_fashion_mnist(const std::filesystem::path& cache);

/// Procedural images of the ten digits, (28, 28, 1) u8, drawn by strokes with random slant, size,
/// thickness, position and noise. A function of the seed alone.
DatasetPair make_digits(std::int64_t train, std::int64_t test, std::uint64_t seed);

}  // namespace linnet
