// SPDX-License-Identifier: Apache-2.0
#include "data/imdb.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/files.h"
#include "data/folder.h"
#include "data/packed.h"
#include "data/vocabulary.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostText = std::size_t{1} << 30;
constexpr std::size_t kMostLine = std::size_t{16} << 20;
constexpr std::size_t kMostReviews = 4'000'000;  // each takes more memory than its text
constexpr std::array<std::string_view, 2> kFolders{"neg", "pos"};  // in the order of the labels

struct Reviews {
  std::vector<std::string> texts;
  std::vector<std::int32_t> labels;
};

std::optional<fs::path> find_table(const fs::path& folder, std::string_view part) {
  for (const std::string_view end : {".tsv", ".tsv.gz", ".tsv.xz"}) {
    fs::path path = folder / fmt::format("{}{}", part, end);
    if (is_file(path)) return path;
  }
  return std::nullopt;
}

/// A folder of classes may well be called "pos"; the reviews are what tells.
bool holds_reviews(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return false;
  const std::vector<fs::path> files = list_folder(folder).files;
  return std::any_of(files.begin(), files.end(),
                     [](const fs::path& path) { return path.extension() == ".txt"; });
}

void add_line(std::string_view line, std::size_t number, const fs::path& path, Reviews& reviews) {
  const std::size_t first = line.find('\t');
  require<DataError>(first != std::string_view::npos,
                     "line {} of '{}' has no tab; expected a label, 0 or 1, and a text after tabs",
                     number, path.string());
  const std::string_view label = line.substr(0, first);
  require<DataError>(label == "0" || label == "1",
                     "line {} of '{}' has the label '{}'; expected 0 (negative) or 1 (positive)",
                     number, path.string(), label.substr(0, 40));
  require<DataError>(reviews.labels.size() < kMostReviews, "'{}' has more than {} reviews",
                     path.string(), kMostReviews);
  reviews.labels.push_back(label == "1" ? 1 : 0);
  reviews.texts.emplace_back(line.substr(line.rfind('\t') + 1));
}

/// Line by line: a small packed file may hold a long table, or none.
Reviews read_table(const fs::path& path) {
  Reviews reviews;
  std::size_t number = 0;
  std::string cut;  // the start of a line whose end is still to come
  const auto add = [&](std::string_view line) { add_line(line, ++number, path, reviews); };
  read_pieces(path, kMostText, [&](std::string_view piece) {
    for (std::size_t end; (end = piece.find('\n')) != std::string_view::npos;) {
      add(cut.empty() ? piece.substr(0, end) : cut += piece.substr(0, end));
      cut.clear();
      piece.remove_prefix(end + 1);
    }
    cut += piece;
    require<DataError>(cut.size() <= kMostLine, "line {} of '{}' has more than {} bytes",
                       number + 1, path.string(), kMostLine);
    return true;
  });
  if (!cut.empty()) add(cut);
  require<DataError>(!reviews.labels.empty(), "'{}' holds no reviews", path.string());
  return reviews;
}

Reviews read_folders(const fs::path& part) {
  Reviews reviews;
  for (std::size_t label = 0; label < kFolders.size(); ++label) {
    const fs::path folder = part / kFolders[label];
    require<DataError>(holds_reviews(folder), "'{}' holds no reviews (*.txt)", folder.string());
    for (const fs::path& path : list_folder(folder).files) {
      if (path.extension() != ".txt") continue;
      reviews.texts.push_back(read_file(path));
      reviews.labels.push_back(static_cast<std::int32_t>(label));
    }
  }
  return reviews;
}

Reviews read_part(const fs::path& folder, std::string_view part) {
  const std::optional<fs::path> table = find_table(folder, part);
  if (table) return read_table(*table);
  std::error_code error;
  require<DataError>(
      fs::is_directory(folder / part, error),
      "'{}' has neither {}.tsv (or .gz, .xz) nor a folder {} beside its other reviews",
      folder.string(), part, part);
  return read_folders(folder / part);
}

Dataset encode(Reviews reviews, const Vocabulary& vocabulary, std::int64_t length) {
  const auto width = static_cast<std::size_t>(length);
  std::vector<std::int32_t> ids(reviews.texts.size() * width);
  for (std::size_t i = 0; i < reviews.texts.size(); ++i) {
    vocabulary.encode(reviews.texts[i], std::span(ids).subspan(i * width, width));
  }
  return {{{"text", Tensor(std::move(ids), {std::ssize(reviews.texts), length})}},
          {{"label", Tensor(std::move(reviews.labels))}},
          {.name = "imdb", .classes = {"negative", "positive"}, .vocabulary = vocabulary.words()}};
}

}  // namespace

bool holds_imdb(const fs::path& folder) {
  for (const std::string_view part : {"train", "test"}) {
    if (find_table(folder, part)) return true;
    for (const std::string_view kind : kFolders) {
      if (holds_reviews(folder / part / kind)) return true;
    }
  }
  return false;
}

Splits load_imdb(const fs::path& folder, const ImdbOptions& options) {
  require(options.length >= 1, "expected a length of at least one id for a review; got {}",
          options.length);
  Reviews train = read_part(folder, "train");
  Reviews test = read_part(folder, "test");
  const Vocabulary vocabulary = options.words.empty()
                                    ? Vocabulary::from_texts(train.texts, options.ids)
                                    : Vocabulary(options.words);
  require(vocabulary.size() <= options.ids, "expected at most {} words; got {}",
          options.ids - Vocabulary::kFirstWord, vocabulary.words().size());
  return {.train = encode(std::move(train), vocabulary, options.length),
          .test = encode(std::move(test), vocabulary, options.length)};
}

}  // namespace linnet
