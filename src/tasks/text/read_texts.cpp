// SPDX-License-Identifier: Apache-2.0
#include "tasks/text/read_texts.h"

#include <linnet/samples.h>
#include <linnet/tables.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "base/folder.h"
#include "base/utf8.h"
#include "datasets/texts.h"
#include "formats/encoding.h"
#include "formats/packed.h"
#include "table/contents.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostText = std::size_t{1} << 30;
/// Share of unknown words above which a text is named.
constexpr double kMostUnknown = 0.5;

bool is_table(const std::string& name) {
  return name.ends_with(".tsv") || name.ends_with(".tsv.gz") || name.ends_with(".tsv.xz");
}

/// A text as a name: one line, not too long.
std::string name_of(const std::string& text) {
  constexpr std::size_t kLongest = 60;
  std::string name = text.substr(0, kLongest);
  // Not within a letter of several bytes.
  for (int i = 0; i < 3 && text.size() > kLongest && !is_utf8(name); ++i) name.pop_back();
  std::ranges::replace_if(
      name, [](unsigned char c) { return c < ' '; }, ' ');
  return name.size() < text.size() ? name + "..." : name;
}

Tensor ids_of(const fs::path& path) {
  const Tensor array = read_npy(path);
  require(array.dtype() == DType::i32 || array.dtype() == DType::i64,
          "'{}' holds {}, but the model takes ids (i32)", path.string(), to_string(array.dtype()));
  try {
    return array.to(DType::i32);
  } catch (const Error& error) {
    fail("cannot read '{}': {}", path.string(), error.what());
  }
}

Tensor encoded(std::string_view text, const Vocabulary& words, std::int64_t steps) {
  Tensor ids(DType::i32, {1, steps});
  words.encode(text, ids.as_writable<std::int32_t>());
  return ids;
}

/// Returns the share of a text's words that the model does not know; 0 for a text without words.
double unknown_share(const Tensor& text) {
  std::int64_t words = 0;
  std::int64_t unknown = 0;
  for (const std::int32_t id : text.as<std::int32_t>()) {
    if (id == Vocabulary::kPadding || id == Vocabulary::kStart) continue;
    ++words;
    if (id == Vocabulary::kUnknown) ++unknown;
  }
  return words == 0 ? 0 : static_cast<double>(unknown) / static_cast<double>(words);
}

}  // namespace

Tensor encode_text(std::string_view text, const std::vector<std::string>& vocabulary,
                   std::int64_t steps) {
  require(steps > 0, "expected at least one step for the ids of a text; got {}", steps);
  return encoded(text, Vocabulary(vocabulary), steps);
}

void TextCollector::add(const fs::path& path) {
  const std::string name = path.filename().string();
  if (is_folder(path)) return add_folder(path);
  if (name.ends_with(".npy")) return add_npy(path);
  if (is_table_name(path) && (!column_.empty() || !is_table(name))) return add_column(path);
  const std::string text = read_unpacked(path, kMostText);
  require(text.find('\0') == std::string::npos,
          "'{}' is not a text; expected texts, folders of *.txt, tables of texts (.tsv) or arrays "
          "of ids (.npy)",
          path.string());
  if (is_table(name)) return add_table(path, text);
  add_text(text, path.string());
}

void TextCollector::add_folder(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::path& file : files_below(folder)) {
    if (file.extension() == ".txt") files.push_back(file);
  }
  require(!files.empty(), "the folder '{}' holds no texts (*.txt)", folder.string());
  for (const fs::path& file : files) add(file);
}

void TextCollector::add_table(const fs::path& path, std::string_view text) {
  std::size_t number = 0;
  const std::optional<TextFields> named = named_fields(text.substr(0, text.find('\n')));
  if (named) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const std::vector<std::string_view> fields = parted(line, '\t');
    add_text(named && named->text < fields.size() ? fields[named->text] : fields.back(),
             fmt::format("{}[{}]", path.string(), number++));
  }
  require(number > 0, "'{}' holds no texts", path.string());
}

void TextCollector::add_column(const fs::path& path) {
  require(!column_.empty(), "'{}' is a table: name the column of its texts", path.string());
  const Table table = read_table(path, {.sheet = sheet_});
  const std::string& source = table.contents()->source_note;
  if (!source.empty()) notes_.push_back(source);
  const std::size_t column = table.find(column_);
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    add_text(table.text(row, column), fmt::format("{}[{}]", path.string(), row));
  }
}

Samples TextCollector::finish() const {
  Samples samples = list_.samples(model_.network().input_names()[0]);
  DatasetInfo info = samples.data.info();
  info.notes = notes_;
  if (unknown_ > 0) {
    info.notes.push_back(
        fmt::format("{} of {} {} mostly words that the model does not know, such as '{}'", unknown_,
                    counted(texts_, "text"), unknown_ == 1 ? "holds" : "hold", first_unknown_));
  }
  samples.data.set_info(std::move(info));
  return samples;
}

void TextCollector::add_literal(const std::string& text) { add_text(text, name_of(text)); }

void TextCollector::add_text(std::string_view text, std::string name) {
  std::string decoded;
  if (!is_utf8(text)) {
    decoded = from_western(text);
    text = decoded;
  }
  require(!vocabulary_.empty(), "'{}' is a text, but the model's words are unknown", name);
  if (!words_) words_.emplace(vocabulary_);
  const Tensor ids = encoded(text, *words_, list_.sample().elements());
  if (unknown_share(ids) > kMostUnknown && unknown_++ == 0) first_unknown_ = name;
  ++texts_;
  list_.add(ids.reshaped(list_.sample().batched(1)), std::move(name));
}

void TextCollector::add_npy(const fs::path& path) {
  const Tensor ids = ids_of(path);
  if (ids.shape() == list_.sample()) {
    list_.add(ids.reshaped(ids.shape().batched(1)), path.string());
  } else {
    list_.add(path, ids);
  }
}

}  // namespace linnet
