// SPDX-License-Identifier: Apache-2.0
#include "config/file_kind.h"

#include <fmt/format.h>
#include <linnet/error.h>
#include <linnet/tables.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "base/files.h"
#include "convert/other_formats.h"
#include "datasets/image_folder.h"

namespace linnet::command {
namespace {

struct Kind {
  std::vector<std::string_view> endings;
  std::string_view text;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {{".xls", ".ods", ".numbers"}, "a spreadsheet; save it as CSV"},
      {{".zip", ".tar", ".tgz", ".tbz2", ".txz", ".7z", ".rar", ".gz", ".xz", ".bz2", ".zst"},
       "an archive; unpack it and name the folder or the file in it"},
      {{".parquet", ".feather", ".arrow", ".orc"},
       "a file of columns; write it as CSV, e.g. with pandas: read_parquet() and to_csv()"},
      {{".json", ".jsonl", ".ndjson", ".xml", ".yaml", ".yml"},
       "a file of records; write a table of it (CSV), or for texts lines of a label, a tab and a "
       "text"},
      {{".db", ".sqlite", ".sqlite3", ".sql"}, "a database; write a table of it as CSV"},
      {{".onnx"},
       "a model of another program; `linnet convert FILE.onnx -o model.safetensors` makes one of "
       "Linnet of it"},
      {{".safetensors"}, "a model or weights; `linnet train DATA --from FILE` trains one further"},
      {{".npy", ".npz"},
       "an array; a folder with x_train.npy and y_train.npy is a data set (docs/data.md)"},
      {{".toml"}, "a configuration; `linnet train FILE.toml` trains it"},
      {{".txt"}, "a text"},
      {{".html", ".htm", ".pdf", ".doc", ".docx", ".md"}, "a document"},
      {{".mp4", ".avi", ".mov", ".wav", ".mp3", ".flac"}, "a film or a sound, which is not read"},
      {{".py", ".ipynb"}, "a program"}};
  return all;
}

/// Returns whether an XML file describes a network of OpenVINO.
bool is_openvino(const std::filesystem::path& path) {
  std::array<char, 512> head{};
  try {
    InputFile file(path);
    return std::string_view(head.data(), file.read(head)).find("<net ") != std::string_view::npos;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::string file_kind(const std::filesystem::path& path) {
  if (is_table_name(path)) return "a table; `linnet train FILE --target COLUMN` learns a column";
  if (is_image_name(path) || is_unread_image_name(path)) {
    return "an image; a training takes a folder that holds a folder of images for each class";
  }
  const std::string ending = lower_ascii(path.extension().string());
  for (const Kind& kind : kinds()) {
    if (std::ranges::count(kind.endings, ending) == 0) continue;
    if (ending != ".xml" || !is_openvino(path)) return std::string(kind.text);
  }
  const std::string_view way = way_from_other_format(path);
  return way.empty() ? "" : fmt::format("of another program; {}", way);
}

}  // namespace linnet::command
