// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/export.h>
#include <linnet/model.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Holds samples without targets for a prediction, and a name for each.
struct Samples {
  /// One input, with the name of the model's first one; for a table's model all of its inputs.
  Dataset data = {};
  /// "cat.png", or "digits.npy[17]" in a file of many samples.
  std::vector<std::string> names = {};
  /// Path and reason of each file that was left out: ReadOptions::on_bad_image.
  std::vector<std::string> bad_files = {};
};

/// Says how read_samples() reads files.
struct ReadOptions {
  /// Words of the training's texts, DatasetInfo::vocabulary. Only text models use it.
  std::vector<std::string> vocabulary = {};
  int threads = 0;  ///< threads that decode the images of a folder; 0: all processors
  /// Above 0: image files are resized so that their shorter side has this many pixels, at the same
  /// ratio, and cropped to their centre of the network's input size, byte for byte as torchvision's
  /// Resize and CenterCrop do. 0: they are resized to the training's samples.
  std::int64_t shorter_side = 0;
  /// Column of the texts in tables (CSV, TSV), by name or number from 1. Empty: a .tsv has a text
  /// after the last tab of each line. Only text models use it.
  std::string text_column = {};
  /// Sheet of spreadsheets (.xlsx), by name or number from 1. Empty: the first. Only models of
  /// tables and texts use it.
  std::string sheet = {};
  /// Texts that are samples themselves, after those of the files; each is its own name.
  std::vector<std::string> texts = {};
  /// What happens to a file or folder that a model of images cannot read: OnBadImage::skip leaves
  /// it out and names it in Samples::bad_files.
  OnBadImage on_bad_image = OnBadImage::stop;
};

/// Reads files and folders as samples of the model's first input, with the bytes that the
/// training's evaluations use for the same files.
/// - A model of images takes images (PNG, JPEG, BMP, WebP, TIFF) as load_images() reads them,
/// folders of them
///   with their subfolders, sorted by path, and IDX files, plain or .gz.
/// - A model of ids takes texts, folders of them (*.txt), and tables (.tsv and .csv, also .gz and
///   .xz) with a column of texts, encoded as encode_text() does.
/// - A model that learned from a table (Model::table()) takes tables of raw rows, with or without
///   the target, and nothing else: read_table() and TableTransform::inputs().
/// - Images and ids may be .npy arrays of the shape of the input, or of the training's samples as
///   fit_samples() has them; one sample, or several.
///
/// Samples keep their element type if all have the same one, else they are f32. Throws Error naming
/// a file that is missing or unreadable, a folder without samples, or a sample of another shape
/// than the model's.
Samples read_samples(std::span<const std::filesystem::path> paths, const Model& model,
                     const ReadOptions& options = {});

/// Reads an image file from memory, e.g. from a request, as load_image() reads one from the disk:
/// u8 (1, height, width, channels). Throws as load_images() does.
Tensor decode_image(std::span<const std::byte> bytes, const Model& model);

/// Returns a text as `steps` ids, i32 (1, steps), as load_dataset() encodes reviews: 1, then the id
/// of each word, padded with 0 in front, or cut to its last ids. `vocabulary` is the training's
/// DatasetInfo::vocabulary. Throws Error for a vocabulary with an empty or repeated word.
Tensor encode_text(std::string_view text, const std::vector<std::string>& vocabulary,
                   std::int64_t steps);

}  // namespace linnet
LINNET_API_END
