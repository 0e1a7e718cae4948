// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "formats/csv.h"

namespace linnet {

/// Says which set a row of a table of images belongs to.
enum class TablePart : std::uint8_t { train, validation, test };

/// Returns what "train", "val" (also valid, validation) or "test" in a column 'split' means. Throws
/// DataError naming the line of any other word.
TablePart table_part_of(const std::string& name, std::size_t line,
                        const std::filesystem::path& path);

/// Returns the image of each name: a path within the folder, or the name alone, with or without its
/// ending, of an image there or up to three folders deeper. Throws DataError for names that are
/// missing (their number, the first three) and for one that several images have.
std::vector<std::filesystem::path> locate_images(const std::filesystem::path& folder,
                                                 const std::filesystem::path& table,
                                                 const std::vector<std::string>& names);

/// Returns whether a folder holds images and a table of their targets: labels.csv, metadata.csv or
/// train.csv with a column of file names, or another CSV file alone where there are no two folders
/// of images.
bool holds_image_table(const std::filesystem::path& folder);

struct TableImage {
  std::filesystem::path path;
  TablePart part = TablePart::train;
};

/// Images with the targets that a table gives them: a class each, or `width` values.
struct ImageTable {
  std::filesystem::path table;
  std::vector<std::string> classes = {};  ///< of labels, or names of the columns of values
  std::vector<TableImage> images = {};
  std::vector<std::int32_t> labels = {};  ///< one an image, or:
  std::vector<float> values = {};         ///< `width` an image
  std::size_t width = 0;                  ///< 0: labels
  std::vector<std::string> notes = {};
};

/// Reads the table that holds_image_table() finds, no image. The column of file names is called
/// file, file_name, filename, image, image_name, image_path, path, img, image_id, id or name. The
/// column split says which set a row belongs to; without it, all are training set. `targets`: the
/// columns to learn; empty: all others. One column of words, of whole numbers of at most 20
/// different ones, or of truth values makes classes; other numbers make values; several columns of
/// 0 and 1 are labels of which an image may have several, several columns of numbers values. Rows
/// without a target are left out and noted.
/// Throws DataError naming the file, the line and the column.
ImageTable read_image_table(const std::filesystem::path& folder,
                            const std::vector<std::string>& targets);

}  // namespace linnet
