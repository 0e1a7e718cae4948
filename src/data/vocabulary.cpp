// SPDX-License-Identifier: Apache-2.0
#include "data/vocabulary.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "data/folder.h"

namespace linnet {
namespace {

constexpr std::string_view kSeparators = "!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~ \t\n\v\f\r";

constexpr std::array<char, 256> cleaned_bytes() {
  std::array<char, 256> table{};
  for (int c = 0; c < 256; ++c) {
    table[static_cast<std::size_t>(c)] = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  }
  for (const char c : kSeparators) table[static_cast<unsigned char>(c)] = ' ';
  return table;
}
constexpr std::array<char, 256> kCleaned = cleaned_bytes();

/// Lower case, every separator a space.
void clean(std::string_view text, std::string& out) {
  out.resize(text.size());
  unsigned char before = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    // U+00C0 to U+00DE are C3 80 to C3 9E in UTF-8, and each small letter stands 20 after; D7 is
    // the multiplication sign.
    const bool capital = before == 0xC3 && c >= 0x80 && c <= 0x9E && c != 0x97;
    out[i] = capital ? static_cast<char>(c + 0x20) : kCleaned[c];
    before = c;
  }
}

/// Calls take(word) for each word of a cleaned text.
template <class Take>
void for_each_word(std::string_view text, const Take& take) {
  std::size_t begin = 0;
  while ((begin = text.find_first_not_of(' ', begin)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    take(text.substr(begin, end - begin));
    begin = end;
  }
}

struct Count {
  std::int64_t times = 0;
  std::size_t first = 0;  ///< the number of words that had appeared before
};

}  // namespace

Vocabulary::Vocabulary(std::vector<std::string> words) : words_(std::move(words)) {
  ids_.reserve(words_.size());
  for (std::size_t i = 0; i < words_.size(); ++i) {
    require<DataError>(!words_[i].empty(), "word {} of a vocabulary is empty", i);
    const bool added = ids_.emplace(words_[i], kFirstWord + static_cast<std::int32_t>(i)).second;
    require<DataError>(added, "a vocabulary has the word '{}' twice", words_[i]);
  }
}

Vocabulary Vocabulary::from_texts(std::span<const std::string> texts, std::int64_t ids,
                                  std::int64_t least) {
  require(ids >= kFirstWord, "a vocabulary needs at least {} ids; got {}", kFirstWord, ids);
  std::unordered_map<std::string, Count, Hash, std::equal_to<>> counts;
  std::string cleaned;
  for (const std::string& text : texts) {
    clean(text, cleaned);
    for_each_word(cleaned, [&](std::string_view word) {
      auto found = counts.find(word);
      if (found == counts.end()) {
        found = counts.emplace(std::string(word), Count{.times = 0, .first = counts.size()}).first;
      }
      ++found->second.times;
    });
  }
  std::erase_if(counts, [&](const auto& entry) { return entry.second.times < least; });
  std::vector<std::pair<std::string, Count>> ranked(counts.begin(), counts.end());
  const std::size_t most = std::min(ranked.size(), static_cast<std::size_t>(ids) - kFirstWord);
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(most),
                    ranked.end(), [](const auto& a, const auto& b) {
                      return a.second.times != b.second.times ? a.second.times > b.second.times
                                                              : a.second.first < b.second.first;
                    });
  std::vector<std::string> words;
  for (std::size_t i = 0; i < most; ++i) words.push_back(std::move(ranked[i].first));
  return Vocabulary(std::move(words));
}

std::int32_t Vocabulary::id(std::string_view word) const {
  const auto found = ids_.find(word);
  return found == ids_.end() ? kUnknown : found->second;
}

void Vocabulary::encode(std::string_view text, std::span<std::int32_t> out) const {
  std::string cleaned;
  clean(text, cleaned);
  std::vector<std::int32_t> ids{kStart};
  for_each_word(cleaned, [&](std::string_view word) { ids.push_back(id(word)); });
  const std::size_t kept = std::min(ids.size(), out.size());
  std::fill(out.begin(), out.end() - static_cast<std::ptrdiff_t>(kept), kPadding);
  std::copy(ids.end() - static_cast<std::ptrdiff_t>(kept), ids.end(),
            out.end() - static_cast<std::ptrdiff_t>(kept));
}

Vocabulary read_vocabulary(const std::filesystem::path& path) {
  std::vector<std::string> words = read_names(path);
  require<DataError>(!words.empty(), "'{}' holds no words", path.string());
  try {
    return Vocabulary(std::move(words));
  } catch (const Error& error) {
    fail_again<DataError>(error, "cannot read '{}': {}", path.string(), error.what());
  }
}

void write_vocabulary(const std::filesystem::path& path, const Vocabulary& vocabulary) {
  std::string content;
  for (const std::string& word : vocabulary.words()) content += word + '\n';
  write_file_atomically(path, content);
}

}  // namespace linnet
