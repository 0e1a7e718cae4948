// SPDX-License-Identifier: Apache-2.0
#include "data/vocabulary.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "base/folder.h"

namespace linnet {
namespace {

/// The last entry of a list of words by WordRule::unicode; by neither rule it is a word.
constexpr std::string_view kUnicode = "<unicode>";

struct Count {
  std::int64_t times = 0;
  std::size_t first = 0;  ///< the number of words that had appeared before
};

}  // namespace

Vocabulary::Vocabulary(std::vector<std::string> words) : words_(std::move(words)) {
  if (!words_.empty() && words_.back() == kUnicode) {
    words_.pop_back();
    rule_ = WordRule::unicode;
  }
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
  for (const std::string& text : texts) {
    for_each_word(text, WordRule::unicode, [&](std::string_view word) {
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
  words.emplace_back(kUnicode);
  return Vocabulary(std::move(words));
}

std::int32_t Vocabulary::id(std::string_view word) const {
  const auto found = ids_.find(word);
  return found == ids_.end() ? kUnknown : found->second;
}

std::vector<std::string> Vocabulary::entries() const {
  std::vector<std::string> all = words_;
  if (rule_ == WordRule::unicode) all.emplace_back(kUnicode);
  return all;
}

bool Vocabulary::has_pairs() const {
  return std::ranges::any_of(words_, [](const std::string& word) { return is_spaceless(word); });
}

void Vocabulary::encode(std::string_view text, std::span<std::int32_t> out) const {
  std::vector<std::int32_t> ids{kStart};
  for_each_word(text, rule_, [&](std::string_view word) { ids.push_back(id(word)); });
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
  for (const std::string& word : vocabulary.entries()) content += word + '\n';
  write_file_atomically(path, content);
}

}  // namespace linnet
