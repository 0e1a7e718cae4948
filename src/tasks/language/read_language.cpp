// SPDX-License-Identifier: Apache-2.0
#include "tasks/language/read_language.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "base/folder.h"
#include "base/utf8.h"
#include "formats/encoding.h"
#include "formats/packed.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostText = std::size_t{1} << 28;

/// Adds a file's text; one that does not end with a line break gets one before the next file.
void add_text(Corpus& corpus, const fs::path& path) {
  std::string bytes = read_unpacked(path, kMostText);
  require<DataError>(corpus.text.size() + bytes.size() <= kMostText,
                     "'{}' holds more than {} bytes of text", corpus.name, kMostText);
  DecodedText decoded = decode_text(std::move(bytes), "", path.string());
  require<DataError>(decoded.text.find('\0') == std::string::npos && is_utf8(decoded.text),
                     "'{}' is not a text", path.string());
  if (!decoded.note.empty()) corpus.notes.push_back(std::move(decoded.note));
  if (!corpus.text.empty() && !corpus.text.ends_with('\n')) corpus.text += '\n';
  corpus.text += with_line_feeds(std::move(decoded.text));
}

}  // namespace

std::string with_line_feeds(std::string text) {
  text.erase(0, byte_order_mark(text));
  std::erase(text, '\r');
  return text;
}

Corpus read_corpus(const fs::path& path) {
  Corpus corpus;
  if (!is_folder(path)) {
    corpus.name = path.filename().string();
    add_text(corpus, path);
    return corpus;
  }
  corpus.name = folder_name(path);
  std::vector<fs::path> files = files_below(path);
  std::erase_if(files, [](const fs::path& file) { return file.extension() != ".txt"; });
  require<DataError>(!files.empty(), "the folder '{}' holds no texts (*.txt)", path.string());
  for (const fs::path& file : files) add_text(corpus, file);
  return corpus;
}

Dataset language_windows(const std::vector<std::int32_t>& ids, std::int64_t context,
                         std::int64_t stride, const DatasetInfo& info) {
  const std::int64_t spare = std::ssize(ids) - context - 1;
  const std::int64_t windows = spare < 0 ? 0 : spare / stride + 1;
  Tensor text(DType::i32, {windows, context});
  Tensor next(DType::i32, {windows, context});
  const std::span<std::int32_t> from = text.as_writable<std::int32_t>();
  const std::span<std::int32_t> to = next.as_writable<std::int32_t>();
  for (std::int64_t i = 0; i < windows; ++i) {
    std::copy_n(ids.begin() + i * stride, context, from.begin() + i * context);
    std::copy_n(ids.begin() + i * stride + 1, context, to.begin() + i * context);
  }
  return Dataset({{"text", std::move(text)}}, {{"next", std::move(next)}}, info);
}

std::vector<std::int32_t> encode_known(const Characters& characters, std::string_view text,
                                       const std::string& what, std::vector<std::string>& notes) {
  Characters::Ids found = characters.encode(text);
  if (found.unknown > 0) {
    notes.push_back(
        fmt::format("{} of the {} {} left out: the model does not know them, such as '{}'",
                    counted(found.unknown, "character"), what, found.unknown == 1 ? "is" : "are",
                    escaped(found.first_unknown)));
  }
  return std::move(found.ids);
}

}  // namespace linnet
