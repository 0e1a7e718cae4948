// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/words.h"

namespace linnet {

/// The words that a network for texts knows, as ids: 0 padding, 1 start of the text, 2 a word that
/// is not among them, and from 3 on the words, the most frequent first.
///
/// Words of ASCII are those of Keras's Tokenizer: the text in lower case, parted at white space and
/// !"#$%&()*+,-./:;<=>?@[\]^_`{|}~; an apostrophe belongs to its word. Of other letters WordRule
/// says what words are.
class Vocabulary {
 public:
  static constexpr std::int32_t kPadding = 0;
  static constexpr std::int32_t kStart = 1;
  static constexpr std::int32_t kUnknown = 2;
  static constexpr std::int32_t kFirstWord = 3;

  /// words[i] gets the id i + 3. A last entry "<unicode>" does not count: it says that texts are parted
  /// by WordRule::unicode, without it by WordRule::latin. Throws Error for an empty or repeated
  /// word.
  explicit Vocabulary(std::vector<std::string> words);

  /// Returns the most frequent words of the texts, by WordRule::unicode, so that all ids are below
  /// `ids`, of those that appear `least` times; of words equally frequent the one that appears
  /// first comes first. Throws Error where ids is below 3.
  static Vocabulary from_texts(std::span<const std::string> texts, std::int64_t ids,
                               std::int64_t least = 1);

  const std::vector<std::string>& words() const { return words_; }
  /// Returns the words and what the constructor takes after them: the form in which they are kept.
  std::vector<std::string> entries() const;
  /// Returns whether some words are letters, or pairs of them, of scripts without spaces.
  bool has_pairs() const;
  /// Returns the number of ids, those below 3 included: the rows that an Embedding needs.
  std::int64_t size() const { return static_cast<std::int64_t>(words_.size()) + kFirstWord; }
  /// 2 for a word that is not among them.
  std::int32_t id(std::string_view word) const;

  /// A text as out.size() ids: 1, then its words. As Keras's pad_sequences does, a short one is
  /// padded in front, and of a long one the end is kept.
  void encode(std::string_view text, std::span<std::int32_t> out) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::vector<std::string> words_;
  WordRule rule_ = WordRule::latin;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> ids_;
};

/// Read and write one word a line, in the order of the ids from 3. Throw Error naming the file.
Vocabulary read_vocabulary(const std::filesystem::path& path);
void write_vocabulary(const std::filesystem::path& path, const Vocabulary& vocabulary);

}  // namespace linnet
