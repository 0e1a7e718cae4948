// SPDX-License-Identifier: Apache-2.0
// The inputs of networks that take ids: texts, or arrays of ids.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/check.h"
#include "data/folder.h"
#include "data/packed.h"
#include "data/vocabulary.h"
#include "inputs.h"
#include "io/npy.h"

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostText = std::size_t{1} << 30;

bool is_table(const std::string& name) {
  return name.ends_with(".tsv") || name.ends_with(".tsv.gz") || name.ends_with(".tsv.xz");
}

class Collector {
 public:
  Collector(const Shape& sample, const SavedRun& run) : run_(run) {
    inputs_.data.name = "inputs";
    inputs_.data.sample_shape = sample;
    inputs_.data.sample_dtype = DType::i32;
  }

  void add(const fs::path& path) {
    const std::string name = path.filename().string();
    if (is_folder(path)) return add_folder(path);
    if (name.ends_with(".npy")) return add_npy(path);
    const std::string text = read_unpacked(path, kMostText);
    require(text.find('\0') == std::string::npos,
            "'{}' is no text; the model takes texts, folders of *.txt, tables of texts (.tsv) and "
            "arrays of ids (.npy)",
            path.string());
    if (is_table(name)) return add_table(path, text);
    add_text(text, path.string());
  }

  Inputs finish() && { return std::move(inputs_); }

 private:
  void add_folder(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const fs::path& file : files_below(folder)) {
      if (file.extension() == ".txt") files.push_back(file);
    }
    require(!files.empty(), "the folder '{}' holds no texts (*.txt)", folder.string());
    for (const fs::path& file : files) add(file);
  }

  /// As in the tables of a data set: the text stands behind the last tab of a line.
  void add_table(const fs::path& path, std::string_view text) {
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

  void add_text(std::string_view text, std::string name) {
    if (!words_) words_.emplace(run_.words());
    std::vector<std::int32_t>& ids = inputs_.data.ids;
    const std::size_t before = ids.size();
    ids.resize(before + static_cast<std::size_t>(sample().elements()));
    words_->encode(text, std::span(ids).subspan(before));
    inputs_.names.push_back(std::move(name));
  }

  void add_npy(const fs::path& path) {
    const NpyArray array = read_npy(path);
    require(array.dtype == DType::i32, "'{}' holds {}, but the model takes ids (i32)",
            path.string(), to_string(array.dtype));
    const bool single = array.shape == sample();
    const Shape found = single                   ? array.shape
                        : array.shape.rank() > 0 ? array.shape.sample()
                                                 : Shape{};
    require(found == sample(), "'{}' holds samples of {}, but the model takes {}", path.string(),
            to_string(found), to_string(sample()));
    std::vector<std::int32_t>& ids = inputs_.data.ids;
    const std::size_t before = ids.size();
    ids.resize(before + array.bytes.size() / sizeof(std::int32_t));
    std::memcpy(ids.data() + before, array.bytes.data(), array.bytes.size());
    for (std::int64_t i = 0; i < (single ? 1 : array.shape[0]); ++i) {
      inputs_.names.push_back(single ? path.string() : fmt::format("{}[{}]", path.string(), i));
    }
  }

  const Shape& sample() const { return inputs_.data.sample_shape; }

  const SavedRun& run_;
  std::optional<Vocabulary> words_;
  Inputs inputs_;
};

}  // namespace

Inputs read_texts(const std::vector<std::string>& paths, const Shape& sample, const SavedRun& run) {
  Collector collector(sample, run);
  read_paths(paths, [&](const fs::path& path) { collector.add(path); });
  return std::move(collector).finish();
}

}  // namespace linnet::command
