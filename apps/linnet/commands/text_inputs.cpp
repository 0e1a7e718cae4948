// SPDX-License-Identifier: Apache-2.0
// The inputs of networks that take ids: texts, or arrays of ids.
#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "commands/inputs.h"
#include "commands/sample_list.h"
#include "data/folder.h"
#include "data/packed.h"
#include "data/vocabulary.h"

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostText = std::size_t{1} << 30;

bool is_table(const std::string& name) {
  return name.ends_with(".tsv") || name.ends_with(".tsv.gz") || name.ends_with(".tsv.xz");
}

class Collector {
 public:
  Collector(const Model& model, const SavedRun& run)
      : model_(model), run_(run), list_(model.network().input_shape()) {}

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

  Inputs finish() const { return list_.inputs(model_.network().input_names()[0]); }

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
    Tensor ids(DType::i32, list_.sample().batched(1));
    words_->encode(text, ids.as_writable<std::int32_t>());
    list_.add(std::move(ids), std::move(name));
  }

  void add_npy(const fs::path& path) {
    const Tensor ids = ids_of(path);
    if (ids.shape() == list_.sample()) {
      list_.add(ids.reshaped(ids.shape().batched(1)), path.string());
    } else {
      list_.add(path, ids);
    }
  }

  static Tensor ids_of(const fs::path& path) {
    const Tensor array = read_npy(path);
    require(array.dtype() == DType::i32 || array.dtype() == DType::i64,
            "'{}' holds {}, but the model takes ids (i32)", path.string(),
            to_string(array.dtype()));
    try {
      return array.to(DType::i32);
    } catch (const Error& error) {
      fail("cannot read '{}': {}", path.string(), error.what());
    }
  }

  const Model& model_;
  const SavedRun& run_;
  std::optional<Vocabulary> words_;
  SampleList list_;
};

}  // namespace

Inputs read_texts(const std::vector<std::string>& paths, const Model& model, const SavedRun& run) {
  Collector collector(model, run);
  read_paths(paths, [&](const fs::path& path) { collector.add(path); });
  return collector.finish();
}

}  // namespace linnet::command
