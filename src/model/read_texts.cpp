// SPDX-License-Identifier: Apache-2.0
#include "model/read_texts.h"

#include <linnet/samples.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/check.h"
#include "data/folder.h"
#include "data/packed.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostText = std::size_t{1} << 30;

bool is_table(const std::string& name) {
  return name.ends_with(".tsv") || name.ends_with(".tsv.gz") || name.ends_with(".tsv.xz");
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
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t tab = line.rfind('\t');
    add_text(tab == std::string_view::npos ? line : line.substr(tab + 1),
             fmt::format("{}[{}]", path.string(), number++));
    begin = end + 1;
  }
  require(number > 0, "'{}' holds no texts", path.string());
}

void TextCollector::add_text(std::string_view text, std::string name) {
  require(!vocabulary_.empty(), "'{}' is a text, but the model's words are unknown", name);
  if (!words_) words_.emplace(vocabulary_);
  list_.add(encoded(text, *words_, list_.sample().elements()).reshaped(list_.sample().batched(1)),
            std::move(name));
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
