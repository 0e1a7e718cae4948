// SPDX-License-Identifier: Apache-2.0
#include "data/words.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "base/utf8.h"

namespace linnet {
namespace {

using Take = std::function<void(std::string_view)>;

constexpr std::string_view kSeparators = "!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~ \t\n\v\f\r";
constexpr std::string_view kSpaces = " \t\n\v\f\r";
constexpr std::size_t kMostPiece = std::size_t{1} << 16;  // bytes that are normalised at once
constexpr std::int32_t kQuote = 0x2019;                   // the typographic apostrophe

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

void latin_words(std::string_view text, std::string& cleaned, const Take& take) {
  clean(text, cleaned);
  const std::string_view all = cleaned;
  for (std::size_t begin = 0; (begin = all.find_first_not_of(' ', begin)) != all.npos;) {
    const std::size_t end = std::min(all.find(' ', begin), all.size());
    take(all.substr(begin, end - begin));
    begin = end;
  }
}

struct Range {
  std::int32_t first;
  std::int32_t last;
};

constexpr std::array<Range, 12> kSpaceless{{{0x0E00, 0x0EFF},      // Thai, Lao
                                            {0x1000, 0x109F},      // Burmese
                                            {0x1780, 0x17FF},      // Khmer
                                            {0x2E80, 0x2FDF},      // radicals
                                            {0x3005, 0x3007},      // iteration marks, zero
                                            {0x3021, 0x3029},      // numerals
                                            {0x3041, 0x30FF},      // Hiragana, Katakana
                                            {0x31F0, 0x31FF},      // more Katakana
                                            {0x3400, 0x4DBF},      // Han
                                            {0x4E00, 0x9FFF},      // Han
                                            {0xF900, 0xFAFF},      // Han
                                            {0x20000, 0x3FFFF}}};  // Han

bool is_spaceless(std::int32_t letter) {
  return std::ranges::any_of(kSpaceless, [&](const Range& range) {
    return letter >= range.first && letter <= range.last;
  });
}

bool is_mark(utf8proc_category_t category) {
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
         category == UTF8PROC_CATEGORY_ME;
}

bool is_separator(utf8proc_category_t category) {
  switch (category) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_CC: return true;
    default: return false;
  }
}

/// Gathers letters to words.
class Words {
 public:
  explicit Words(const Take& take) : take_(take) {}

  void add(std::int32_t letter, std::string_view bytes, bool letter_follows) {
    const utf8proc_category_t category = utf8proc_category(letter);
    if (letter < 0x80) {
      kCleaned[static_cast<std::size_t>(letter)] == ' ' ? end() : append(bytes);
    } else if (letter == kQuote) {
      letter_follows && !word_.empty() ? append("'") : end();
    } else if (is_mark(category)) {
      (cluster_.empty() ? word_ : cluster_) += bytes;
    } else if (is_separator(category)) {
      end();
    } else if (category == UTF8PROC_CATEGORY_SO) {
      end();
      take_(bytes);
    } else if (is_spaceless(letter)) {
      end_word();
      end_cluster();
      cluster_ = bytes;
    } else {
      append(bytes);
    }
  }

  void end() {
    end_word();
    end_cluster();
    before_.clear();
  }

 private:
  void append(std::string_view bytes) {
    end_cluster();
    before_.clear();
    word_ += bytes;
  }
  void end_word() {
    if (!word_.empty()) take_(word_);
    word_.clear();
  }
  /// A letter with its marks, and its pair with the one before.
  void end_cluster() {
    if (cluster_.empty()) return;
    if (!before_.empty()) take_(before_ + cluster_);
    take_(cluster_);
    before_ = std::exchange(cluster_, {});
  }

  const Take& take_;
  std::string word_;
  std::string cluster_;
  std::string before_;
};

/// Returns the letter at a place and how many bytes it has; 0 bytes at the end.
std::pair<std::int32_t, std::size_t> letter_at(std::string_view text, std::size_t at) {
  std::int32_t letter = -1;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
  const utf8proc_ssize_t size =
      utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &letter);
  return {letter, size > 0 ? static_cast<std::size_t>(size) : 0};
}

bool is_word_letter(std::int32_t letter) {
  if (letter < 0) return false;
  const utf8proc_category_t category = utf8proc_category(letter);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;
}

/// Returns false where the text is not UTF-8.
bool unicode_words(std::string_view text, const Take& take) {
  constexpr auto kNfkcCasefold = static_cast<utf8proc_option_t>(
      UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
  utf8proc_uint8_t* made = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &made, kNfkcCasefold);
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(made, std::free);
  if (size == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc();
  if (size < 0) return false;
  const std::string_view form(reinterpret_cast<const char*>(made), static_cast<std::size_t>(size));
  Words words(take);
  auto [letter, bytes] = letter_at(form, 0);
  for (std::size_t at = 0; at < form.size() && bytes > 0;) {
    const std::size_t next = at + bytes;
    const auto [after, more] = letter_at(form, next);
    words.add(letter, form.substr(at, bytes), more > 0 && is_word_letter(after));
    at = next;
    letter = after;
    bytes = more;
  }
  words.end();
  return true;
}

/// Returns where a piece of text ends that is normalised alone: after a run without white space, or
/// within a very long one between two letters.
std::size_t end_of_piece(std::string_view text, std::size_t begin) {
  std::size_t end = std::min(text.find_first_of(kSpaces, begin), text.size());
  if (end - begin <= kMostPiece) return end;
  end = begin + kMostPiece;
  while (end > begin + kMostPiece - 4 && !begins_character(text[end])) --end;
  return end;
}

}  // namespace

void for_each_word(std::string_view text, WordRule rule, const Take& take) {
  std::string cleaned;
  if (rule == WordRule::latin) return latin_words(text, cleaned, take);
  for (std::size_t begin = 0; (begin = text.find_first_not_of(kSpaces, begin)) != text.npos;) {
    const std::size_t end = end_of_piece(text, begin);
    const std::string_view piece = text.substr(begin, end - begin);
    const bool ascii =
        std::ranges::all_of(piece, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (ascii || !unicode_words(piece, take)) latin_words(piece, cleaned, take);
    begin = end;
  }
}

bool is_spaceless(std::string_view word) { return is_spaceless(letter_at(word, 0).first); }

}  // namespace linnet
