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

/// Holds one input or one target of every sample, under a name: N records, in memory or from a
/// source.
struct Column {
  std::string
      name;  ///< unique in a data set; belongs to the network's input or output of that name
  Tensor data = {};  ///< (N, ...): one record a row; empty where there is a `source`
  /// Gives the records when a batch needs them, instead of `data`.
  std::shared_ptr<const RecordSource> source = {};
  /// Number of steps that count in each of N sequences (N, T, ...) padded at their ends: (N), i32
  /// or i64, from 1 to T (of a target from 0). Empty: all steps count. Padding affects no result,
  /// even if it is NaN; ids in it must be rows of the embedding.
  Tensor lengths = {};
  /// The records as f64 (N, ...), of which `data` is rounded, where they were given so: models of
  /// the precision fp64 read them. A data set drops them where they are not those of `data`.
  Tensor exact = {};

  /// Returns whether the column has lengths of sequences.
  bool has_lengths() const { return lengths.elements() > 0; }
  /// Returns the number of records, N.
  std::int64_t size() const;
  /// Returns the element type of the records.
  DType dtype() const;
  /// Returns the shape of one record, without N.
  Shape record() const;
};

/// Says what the EXIF orientation of an image file does.
enum class Exif : std::uint8_t {
  apply,   ///< turns and mirrors the image as viewers show it
  ignore,  ///< nothing: the pixels stay in the order in which the file stores them
};

/// Says how image files were read; model files remember it, so that a model reads others so too.
/// The default is how version 0.1 read them.
struct ImageReading {
  Exif exif = Exif::ignore;  ///< what an image file's orientation did
  /// Sample of a 16-bit file that became 255; larger ones too. 0: the high byte was taken.
  std::int64_t white = 0;

  /// Returns whether all fields are equal.
  bool operator==(const ImageReading&) const = default;
};

/// Holds further facts about a data set. All are optional.
struct DatasetInfo {
  std::string name = "data";              ///< name of the data set in messages
  std::vector<std::string> classes = {};  ///< class names by label; empty: unknown
  /// Words of a text's ids from 3 on, the most frequent first (id 0 pads, 1 starts a text, 2 is any
  /// other word). Empty: no texts.
  std::vector<std::string> vocabulary = {};
  /// Path and reason of each file that was left out because it could not be read.
  std::vector<std::string> bad_files = {};
  /// File whose records are the samples, in order; errors name it. Empty: none.
  std::filesystem::path samples_file = {};
  /// File whose records are the targets, in order; errors name it. Empty: none.
  std::filesystem::path targets_file = {};
  /// Sentences that say what was decided while reading, e.g. that grey images are read in colour.
  std::vector<std::string> notes = {};
  ImageReading images = {};  ///< how its image files were read
};

/// Says which record a Transform makes.
struct RecordPlace {
  std::int64_t row = 0;    ///< row in the data set whose column is mapped, from 0
  std::int64_t epoch = 0;  ///< epoch of a training, from 1; 0 in evaluations and predictions
  /// Seed for transforms that use random numbers: a function of row, epoch and MapOptions::seed.
  std::uint64_t key = 0;
};

/// Makes a record from another one, e.g. the spectrum of a sound. It reads `from`, which is
/// read-only, and writes finite numbers over all of `to`, or assigns to it a Tensor of the same
/// type and shape. Several threads call it at once. The record depends on the arguments only.
using Transform = std::function<void(const Tensor& from, Tensor& to, const RecordPlace& place)>;

/// Describes the records that Dataset::map() makes.
struct MapOptions {
  Shape record = {};  ///< shape of the new records, without the batch
  /// Element type of the new records: u8, f32 or i32 for an input, f32 for a target.
  DType dtype = DType::f32;
  std::uint64_t seed = 0;  ///< seed of RecordPlace::key
};

/// Says how Dataset::split() chooses samples.
struct SplitOptions {
  std::uint64_t seed = 0;  ///< seed of the random choice
  /// Takes the same share of every class, to within one sample, as scikit-learn's `stratify` does.
  /// Needs labels.
  bool stratify = false;
};

/// Holds samples as named input columns and named target columns of equal length. A cheap handle:
/// copies share the columns, and a setter changes one handle only. `const` functions may be called
/// from several threads at once.
///
/// Inputs are u8, f32 or i32 (ids), targets f32 values or i32 labels, class indices: one a sample,
/// (N), or one for each step (N, T) or pixel (N, H, W). They are read in place,
/// without a copy; pixels stay bytes until a batch is gathered. Columns of other types, or in the
/// memory of a GPU, are copied and converted when the data set is made: f64, f16 and bf16 to f32,
/// i64 to i32, bool to u8, targets of u8 or bool to i32. Labels (N, 1) become (N).
///
/// Columns belong to a network's inputs and outputs by name. A network of one input takes the only
/// input column whatever its name, and one of one output the only target; among several no name
/// stands for another. An output without a target has no loss; an input column that the network
/// lacks is not read.
class Dataset {
 public:
  /// Makes a data set without columns and samples.
  Dataset() = default;
  /// Makes a data set of these columns. Throws DataError naming the column for: lengths that
  /// disagree, a name that is empty or occurs twice, records of a dim below 1, labels that come
  /// from a source, integers that i32 cannot hold, a source of another type
  /// than u8, f32 and i32, lengths outside the column's steps; and for `info` as set_classes()
  /// does.
  Dataset(std::vector<Column> inputs, std::vector<Column> targets = {}, DatasetInfo info = {});

  /// Returns the number of samples, N.
  std::int64_t size() const;
  /// Returns the input columns, in order.
  const std::vector<Column>& inputs() const;
  /// Returns the target columns, in order.
  const std::vector<Column>& targets() const;
  /// Returns the input or target of this name. Throws Error listing the names that exist.
  const Column& column(std::string_view name) const;

  /// Returns whether both handles refer to the same columns, weights and facts.
  bool same_as(const Dataset& other) const {
    return contents_ == other.contents_ && marks_ == other.marks_ && info_ == other.info_;
  }

  /// Returns the weight of each sample in losses and metrics; empty: all count alike.
  const Tensor& weights() const;
  /// Sets weights (N), or (N, T) for the steps of targets (N, T, ...): finite, at least 0, f32 or
  /// of a type that converts to it. The loss of a batch is sum(weight * loss) / sum(weight), and 0
  /// where all weights of the batch are 0; LossOptions::class_weights multiply these. An epoch's
  /// loss and accuracy, and all metrics but counts, are weighted means too. rows(), take() and
  /// split() keep the weights of their samples. An empty Tensor removes them. Throws DataError for
  /// another shape, and naming a weight that is NaN, infinite or negative.
  void set_weights(const Tensor& weights);

  /// Returns the fold of each sample, f32; empty: they have none.
  const Tensor& folds() const;
  /// Sets folds (N): whole numbers from 0 on, or -1 for a sample of no fold. They say which members
  /// of an ensemble hold a sample out (FunctionalNetwork::build_ensemble()); other networks take no
  /// notice. rows(), take(), split() and map() keep the folds of their samples. An empty Tensor
  /// removes them. Throws DataError for another shape, and naming a number that is not one.
  void set_folds(const Tensor& folds);

  /// Returns the facts about the data set.
  const DatasetInfo& info() const;
  /// Replaces the facts. Throws DataError as set_classes() does.
  void set_info(DatasetInfo info);
  /// Returns the class names of the first target, by label; empty: unknown.
  const std::vector<std::string>& classes() const { return info().classes; }
  /// Sets the class names of the first target, by label. Throws DataError for a name that is not
  /// UTF-8 or occurs twice.
  void set_classes(std::vector<std::string> names);

  /// Returns the samples [begin, end), in the same memory. Throws Error for samples outside the
  /// data set.
  Dataset rows(std::int64_t begin, std::int64_t end) const;
  /// Returns these samples in this order. Copies them; those of a source are read later. Throws
  /// Error naming a sample outside the data set.
  Dataset take(std::span<const std::int64_t> rows) const;
  /// Splits off a random share of the samples: returns {the others, the share}, both in the data
  /// set's order and copied as take() does (not copied for a share of 0). The share has round(share
  /// * size()) samples, the same ones for a seed on every machine. Throws Error for a share outside
  /// [0, 1), and for one that leaves no other samples.
  std::pair<Dataset, Dataset> split(double share, const SplitOptions& options = {}) const;

  /// Returns the same data set with other records in a column. The threads that read ahead
  /// (FitOptions::decoders) make each record when a batch needs it, anew in every epoch; none is
  /// kept in memory. Throws Error for an unknown column, and for labels. An exception of the
  /// transform, and NaN or infinity in a step that counts, end the training, evaluation or
  /// prediction with a DataError that names column and row.
  Dataset map(std::string_view column, const MapOptions& options, Transform transform) const;

  /// Checks the labels of the first target. Throws DataError where there are classes and a label
  /// that counts lies outside [0, classes); `ignored_label` may.
  void check_labels(std::optional<std::int32_t> ignored_label = {}) const;

 private:
  struct Contents;
  struct Marks;                               ///< weights and folds
  std::shared_ptr<const Contents> contents_;  ///< null: no columns
  std::shared_ptr<const Marks> marks_;        ///< null: none
  std::shared_ptr<const DatasetInfo> info_;   ///< null: no facts
};

/// Returns the lengths (N), i32, of sequences of ids i32 (N, T) padded at their ends: up to the
/// last id that is not `pad`, and at least 1. Made for Column::lengths. Throws Error for other
/// Tensors.
Tensor lengths_of(const Tensor& ids, std::int32_t pad = 0);
/// Returns the lengths (N), i32, of sequences from a mask (N, T) of any type: 1 where a step
/// counts, 0 where it is padding. Throws Error for other Tensors, and DataError naming a row
/// without ones or whose ones are not its first steps.
Tensor lengths_of_mask(const Tensor& mask);

/// Holds a training, a validation and a test set. An empty one has no samples.
struct Splits {
  Dataset train = {};       ///< the samples that weights learn from
  Dataset validation = {};  ///< the samples that choose the epoch; often empty
  Dataset test = {};        ///< the samples that measure the trained model
};

/// Says what happens to an image file that cannot be read or decoded.
enum class OnBadImage : std::uint8_t {
  stop,  ///< throws DataError naming the file
  /// Leaves it out and names it in DatasetInfo::bad_files. All files are decoded once when the data
  /// set is opened, so that every run and every epoch sees the same samples.
  skip,
};

/// Says how load_dataset() turns files into samples.
struct DatasetOptions {
  /// Decodes images when a batch needs them, instead of holding them in memory. Opening reads the
  /// list of files and, unless `channels` and `white` are given, their headers. Other kinds of data
  /// are always read into memory.
  bool streamed = false;
  /// Size (height, width) to which images are resized, bilinear with antialiasing as Pillow's
  /// resize.
  /// (): the first image's size, and an image of another size is a bad file.
  Shape size = {};
  /// Channels of images: 1 (grey; a colour becomes its luma) or 3 (grey is repeated). 0: 3 if any
  /// image of the data set has colour, else 1; chest X-rays: 3.
  std::int64_t channels = 0;
  OnBadImage on_bad_image = OnBadImage::stop;  ///< what happens to an unreadable image
  /// What the EXIF orientation of image files does. Without it: Exif::apply.
  std::optional<Exif> exif = {};
  /// Sample of 16-bit image files that becomes 255, from 1 to 65535; 0 takes the high byte.
  /// Without it: the least 2^n - 1, at least 255, that no image of the training set exceeds;
  /// DatasetInfo::notes says which.
  std::optional<std::int64_t> white = {};
  /// Columns of labels.csv that images learn. Empty: all but those of files and splits.
  std::vector<std::string> targets = {};
  int threads = 0;             ///< threads that decode images while loading; 0: all processors
  std::uint64_t seed = 0;      ///< seed of a split by patient (chest X-rays)
  bool coarse_labels = false;  ///< reads CIFAR-100's 20 coarse labels instead of its 100 fine ones
  /// Words of texts by rank, as DatasetInfo::vocabulary of another data set. Empty: the most
  /// frequent words of the training set.
  std::vector<std::string> words = {};
  /// Label outside the classes that .npy targets may hold: see Dataset::check_labels().
  std::optional<std::int32_t> ignored_label = {};
  /// Maximum number of training samples, taken evenly from all; 0: all. Throws Error for `streamed`
  /// images.
  std::int64_t train_samples = 0;
  bool test = true;              ///< false: leaves the test set empty
  std::int64_t text_length = 0;  ///< ids of a text, its last words; 0: 150
};

/// Reads the data set in the folder `path`. The contents determine its kind:
/// - the four MNIST-style IDX files (plain or .gz),
/// - CIFAR-10 or CIFAR-100 binary batches,
/// - x_train.npy and y_train.npy, optionally x_test.npy and y_test.npy,
/// - texts: train.tsv and test.tsv (also .gz, .xz), a text a line, its label first; or folders of
///   *.txt by class, also in train/, val/ and test/, as the IMDB reviews have them,
/// - chest X-rays: images beside Data_Entry_2017.csv, or labels.csv with a column `patient`, split
///   by patient,
/// - images beside labels.csv, metadata.csv or train.csv, which names a file in each row (column
///   `file`, `file_name`, `image`, `id`, ...), perhaps its set (`split`), and what is learned of
///   it: one column of words or of at most 20 whole numbers makes classes, several of 0 and 1
///   labels of which an image may have several, other numbers values,
/// - `train/`, `val/` and `test/` trees of images by class (`val/` alone is the test set), or one
///   tree of classes (then everything is the training set),
/// - or one subfolder that holds such a folder (except images by class).
///
/// Without a test set, all texts are the training set. Labels 0 and 1, and folders neg and pos, are
/// the classes negative and positive.
///
/// Images are the input "image", texts "text", arrays "x"; the target is "label" (i32) or "value"
/// (f32). Every label lies in [0, classes), or is the ignored one. A missing split has the columns,
/// without samples.
///
/// Images are read upright (DatasetOptions::exif); gamma and colour profiles change nothing, and
/// samples of 16 bits become bytes (DatasetOptions::white). If some are grey and some in colour,
/// all are read in colour and DatasetInfo::notes says so (see DatasetOptions::channels). A streamed
/// data set has the same samples as one in memory, bit for bit.
///
/// Throws DataError naming the file, what was expected and what was found; Error for an option that
/// does not apply to this kind of data (size, coarse_labels).
Splits load_dataset(const std::filesystem::path& path, const DatasetOptions& options = {});

/// Returns the data set with its targets renumbered, by name, to the classes `class_names` of a
/// model: labels, or the columns of values where each class has one. Labels outside the classes are
/// unchanged, and so are data without class names (none, or "0", "1", ...). Throws DataError
/// listing the names that are not among `class_names`, and for values those that the data set
/// lacks. evaluate(), evaluate_metrics() and train() call it themselves.
Dataset with_class_names(Dataset data, const std::vector<std::string>& class_names);

}  // namespace linnet
LINNET_API_END
