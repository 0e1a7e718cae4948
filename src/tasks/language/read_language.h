// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/characters.h"

namespace linnet {

/// Returns a text as models learn it: "\n" ends its lines, and it has no byte order mark.
std::string with_line_feeds(std::string text);

/// Holds a corpus, in well-formed UTF-8.
struct Corpus {
  std::string name = {};
  std::string text = {};
  std::vector<std::string> notes = {};
};

/// Reads a text, or all *.txt of a folder, one after the other. Throws as language_task() does.
Corpus read_corpus(const std::filesystem::path& path);

/// Returns windows of `context` ids, `stride` from one to the next, each with the ids that follow
/// its own: an input "text" and a target "next". Ids that fill no window are left out.
Dataset language_windows(const std::vector<std::int32_t>& ids, std::int64_t context,
                         std::int64_t stride, const DatasetInfo& info);

/// Encodes what is held out, and notes the characters that are left out of it.
std::vector<std::int32_t> encode_known(const Characters& characters, std::string_view text,
                                       const std::string& what, std::vector<std::string>& notes);

}  // namespace linnet
