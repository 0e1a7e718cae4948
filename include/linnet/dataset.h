// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/record_source.h>
#include <linnet/tensor.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// One input or target of every sample, by name: N records, in memory or from a source.
struct Column {
  std::string name;
  Tensor data = {};  ///< (N, ...): one record a row
  /// Gives the records when a batch needs them; `data` is empty then.
  std::shared_ptr<const RecordSource> source = {};
  /// Of sequences (N, T, ...) that are padded at their ends: how many steps of each count, (N) i32
  /// or i64, from 1 to T (of a target from 0). Empty: all of them. What lies in the padding has no
  /// part in anything, be it NaN (ids in it are such as the embedding has).
  Tensor lengths = {};

  bool has_lengths() const { return lengths.elements() > 0; }
  std::int64_t size() const;  ///< N
  DType dtype() const;
  Shape record() const;  ///< the shape of one record, without N
};

/// What is known of a data set beside its columns.
struct DatasetInfo {
  std::string name = "data";
  std::vector<std::string> classes = {};  ///< names, one per class; none: not known
  /// Of texts: the words of the ids from 3 on, the most frequent first (0 pads, 1 starts a text, 2
  /// is any other word).
  std::vector<std::string> vocabulary = {};
  /// Files that were left out because they could not be read: path and reason.
  std::vector<std::string> bad_files = {};
  /// The files whose records these are, one for one, so that errors can name them; empty: none.
  std::filesystem::path samples_file = {};
  std::filesystem::path targets_file = {};
  /// Sentences on what was decided while reading, e.g. that grey images are read in colour.
  std::vector<std::string> notes = {};
};

/// Which record a Transform is to make.
struct RecordPlace {
  std::int64_t row = 0;    ///< in the data set whose column was mapped
  std::int64_t epoch = 0;  ///< of a training, from 1; 0 in evaluations and predictions
  /// For transforms that draw: a function of row, epoch and the seed that Dataset::map() was given.
  std::uint64_t key = 0;
};

/// Makes a record of another one, e.g. a spectrum of a sound: reads `from`, which is read-only, and
/// writes finite numbers over all of `to`, or assigns to it a Tensor of its type and shape. Called
/// by several threads at once; what it writes depends on nothing else than its arguments.
using Transform = std::function<void(const Tensor& from, Tensor& to, const RecordPlace& place)>;

/// What Dataset::map() makes.
struct MapOptions {
  Shape record = {};         ///< of the new records
  DType dtype = DType::f32;  ///< theirs: u8, f32 or i32; of a target f32
  std::uint64_t seed = 0;    ///< of RecordPlace::key
};

/// How Dataset::split() chooses.
struct SplitOptions {
  std::uint64_t seed = 0;
  /// Takes the same share of every class, within one sample. Needs labels.
  bool stratify = false;
};

/// Samples as named input columns and named target columns of equal length. A cheap handle: copies
/// share columns, and the setters change one handle alone. Different threads may read one data set.
///
/// Inputs are u8, f32 or i32 (ids), targets f32 values or i32 labels (N): read where they lie,
/// without a copy; pixels stay bytes until a batch is gathered. Columns of other types, or in the
/// memory of a GPU, are converted when the data set is made, which copies them: f64, f16 and bf16
/// to f32, i64 to i32, bool to u8, and targets of u8 or bool to i32. Labels (N, 1) are (N).
///
/// Columns belong to a network's inputs and outputs by name. Where each side has exactly one
/// without a partner, these two belong together, so that a network of one input and one output
/// takes a data set of any names. An output without a target has no loss; an input column that the
/// network lacks is not read.
class Dataset {
 public:
  /// No columns, no samples.
  Dataset() = default;
  /// Throws Error naming the column: lengths that disagree, a name that is empty or stands there
  /// twice, records of a dimension below 1, labels that are no single numbers or come from a
  /// source, integers that i32 can't hold, a source of another type than u8, f32 and i32, lengths
  /// that are no steps of the column. Of `info` as set_classes() does.
  Dataset(std::vector<Column> inputs, std::vector<Column> targets = {}, DatasetInfo info = {});

  std::int64_t size() const;
  const std::vector<Column>& inputs() const;
  const std::vector<Column>& targets() const;
  /// An input or target by its name; throws Error listing the names that there are.
  const Column& column(std::string_view name) const;

  /// Whether both are handles of the same columns, weights and facts.
  bool same_as(const Dataset& other) const {
    return contents_ == other.contents_ && weights_ == other.weights_ && info_ == other.info_;
  }

  /// How much each sample counts in losses and metrics; no elements: all alike.
  const Tensor& weights() const;
  /// Weights (N), or (N, T) of the steps of targets (N, T, ...): finite and not negative, f32 or
  /// what converts to it. The loss of a batch is sum(weight * loss) / sum(weight), as class weights
  /// have it in LossOptions, whose weights multiply these; 0 where all of a batch are 0. An epoch's
  /// loss and accuracy and all metrics but counts are weighted means as well. rows(), take() and
  /// split() take the weights along. An empty Tensor removes them. Throws Error for other shapes,
  /// and naming a weight that is NaN, infinite or negative.
  void set_weights(const Tensor& weights);

  const DatasetInfo& info() const;
  /// Throws Error as set_classes() does.
  void set_info(DatasetInfo info);
  /// The names of the first target's classes; none: not known.
  const std::vector<std::string>& classes() const { return info().classes; }
  /// Throws Error for a name that is not UTF-8 or stands there twice.
  void set_classes(std::vector<std::string> names);

  /// Samples [begin, end), in the same memory. Throws Error for samples that are not there.
  Dataset rows(std::int64_t begin, std::int64_t end) const;
  /// These samples in this order, copied; of a source they are read later. Throws Error naming a
  /// sample that is not there.
  Dataset take(std::span<const std::int64_t> rows) const;
  /// Splits off a random share of the samples: {the others, the share}, both in the data set's
  /// order and copied as take() does; nothing is copied for a share without samples. The share has
  /// round(share * size()) samples, the same ones for a seed on every machine. Throws Error for a
  /// share outside [0, 1), and for one that leaves nothing.
  std::pair<Dataset, Dataset> split(double share, const SplitOptions& options = {}) const;

  /// The same data set with other records in a column: each is made when a batch needs it, by the
  /// threads that read ahead (FitOptions::decoders), in every epoch anew. Nothing is held in
  /// memory. Throws Error for a column that is not there, and for labels. An exception of the
  /// transform, and NaN or infinity that it makes of a step that counts, end the training (or
  /// evaluation, or prediction) as an Error that names column and row.
  Dataset map(std::string_view column, const MapOptions& options, Transform transform) const;

  /// Throws Error where the first target is labels and one lies outside [0, classes), if there are
  /// classes; `ignored_label` may.
  void check_labels(std::optional<std::int32_t> ignored_label = {}) const;

 private:
  struct Contents;
  std::shared_ptr<const Contents> contents_;  ///< null: no columns
  std::shared_ptr<const Tensor> weights_;     ///< null: none
  std::shared_ptr<const DatasetInfo> info_;   ///< null: nothing is known
};

/// The lengths (N) of sequences of ids i32 (N, T) that are padded at their ends: up to the last id
/// that is not `pad`, and at least 1. For Column::lengths. Throws Error for other Tensors.
Tensor lengths_of(const Tensor& ids, std::int32_t pad = 0);
/// The lengths (N) of sequences by a mask (N, T) of any type: 1 where a step counts, 0 where it is
/// padding. Throws Error for other Tensors, and naming a row whose ones are not the first steps, or
/// which has none.
Tensor lengths_of_mask(const Tensor& mask);

/// A training, a validation and a test set; each may be empty.
struct Splits {
  Dataset train = {};
  Dataset validation = {};
  Dataset test = {};
};

/// What becomes of an image file that can't be read or decoded.
enum class OnBadImage : std::uint8_t {
  stop,  ///< Error, naming the file
  /// Left out, and named in DatasetInfo::bad_files. So that every run and every epoch sees the same
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
  /// The words of texts by rank, as DatasetInfo::vocabulary of another data set; none: the most
  /// frequent ones of the training set.
  std::vector<std::string> words = {};
  /// The one label outside the classes that .npy targets may hold; see Dataset::check_labels().
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
/// Images are the input "image", texts "text", arrays "x"; the target is "label" (i32) or "value"
/// (f32). Every label lies in [0, classes), or is the ignored one. A set that is not there has the
/// columns, without samples.
///
/// Images are read as stored: no EXIF orientation is applied (as torchvision's ImageFolder), and a
/// PNG's gamma and colour profile change nothing. Where some are grey and some in colour, all are
/// read in colour and DatasetInfo::notes says so (see DatasetOptions::channels). A streamed data
/// set has the samples of a resident one, bit for bit. Throws Error naming the file, and what was
/// expected and found there; also for an option that has no meaning for what lies there (size,
/// coarse_labels).
Splits load_dataset(const std::filesystem::path& path, const DatasetOptions& options = {});

/// Returns the data set with its targets as a model of the classes `class_names` counts them, by
/// name: labels, or the columns of values where each class has one. Labels outside the classes stay
/// as they are, and so do data without names of their own (none, or "0", "1", ...). Throws Error
/// listing the names that are not among `class_names`, and for values those that the data lack.
/// evaluate(), evaluate_metrics() and train() do this by themselves.
Dataset with_class_names(Dataset data, const std::vector<std::string>& class_names);

/// Fashion-MNIST: from `cache` (if it holds the files), else Debian's package
/// dataset-fashion-mnist, else downloaded into `cache` and checked by SHA-256. Throws Error where
/// none of these works; then make_digits() is the way on.
Splits load_fashion_mnist(const std::filesystem::path& cache);

/// Procedural images of the ten digits, (28, 28, 1) u8, drawn by strokes with random slant, size,
/// thickness, position and noise. A function of the seed alone.
Splits make_digits(std::int64_t train, std::int64_t test, std::uint64_t seed);

}  // namespace linnet
LINNET_API_END
