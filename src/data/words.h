// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace linnet {

/// How a text becomes words; a vocabulary remembers it.
enum class WordRule : std::uint8_t {
  /// Version 0.1's: small letters of ASCII and Latin-1; white space and the punctuation of ASCII,
  /// but the apostrophe, stand between words.
  latin,
  /// Small letters of all scripts, in the form NFKC (é is one letter, however it is written). Words
  /// end at white space, punctuation and signs of all scripts, no-break spaces and typographic
  /// quotes included; an apostrophe belongs to its word, in a typographic form between letters. A
  /// symbol, such as an emoji, is a word. Of scripts that put no space between words
  /// (is_spaceless())
  /// each letter and each pair of neighbours is a word. Texts of ASCII have the same words by both
  /// rules.
  unicode,
};

/// Calls take(word) for each word of a text, in their order. What is not UTF-8 is parted as by
/// WordRule::latin.
void for_each_word(std::string_view text, WordRule rule,
                   const std::function<void(std::string_view)>& take);

/// Returns whether a word begins with a letter of Chinese, Japanese, Thai, Lao, Khmer or Burmese.
bool is_spaceless(std::string_view word);

}  // namespace linnet
