// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace linnet {
namespace {

TEST(Utf8, KnowsWellFormedText) {
  for (const char* text : {"", "cat", "caf\xC3\xA9", "\xE7\x8C\xAB", "\xF0\x9F\x90\x88",
                           "\xED\x9F\xBF", "\xEE\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
    EXPECT_EQ(escaped(text), text);
    for (std::size_t ahead = 0; ahead < 20; ++ahead) {  // words of ASCII are skipped
      const std::string long_text = std::string(ahead, 'a') + text + std::string(20 - ahead, 'b');
      EXPECT_TRUE(is_utf8(long_text)) << long_text;
    }
  }
}

TEST(Utf8, RefusesWhatIsNoUtf8) {
  for (const char* text : {"caf\xE9", "\x80", "\xC3", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80",
                           "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE7\x8C", "\xFF\xFE"}) {
    EXPECT_FALSE(is_utf8(text)) << escaped(text);
    for (std::size_t ahead = 0; ahead < 20; ++ahead) {
      const std::string long_text = std::string(ahead, 'a') + text + std::string(20 - ahead, 'b');
      EXPECT_FALSE(is_utf8(long_text)) << ahead;
    }
  }
}

TEST(Utf8, EscapesTheBytesThatAreNoneAndControlCharacters) {
  EXPECT_EQ(escaped("caf\xE9!"), "caf\\xE9!");
  EXPECT_EQ(escaped("\xE7\x8C"), "\\xE7\\x8C");
  EXPECT_EQ(escaped("a\nb\tc\x1B[31m"), "a\\x0Ab\\x09c\\x1B[31m");
  EXPECT_EQ(escaped("\x7F \xC2\x9B \xE2\x80\xAE \xE2\x81\xA6 \xE2\x80\xA8"),
            "\\u007F \\u009B \\u202E \\u2066 \\u2028");
  EXPECT_EQ(escaped("\xC3\xA9\xE9"), "\xC3\xA9\\xE9");
}

TEST(Utf8, ShortensBetweenCharacters) {
  EXPECT_EQ(shortened("abcd", 4), "abcd");
  EXPECT_EQ(shortened("abcdefghij", 4), "abc ... (6 bytes are left out) ... j");
  EXPECT_EQ(shortened("ab\xE2\x96\x81 defg\xE2\x96\x81", 4), "ab ... (11 bytes are left out) ... ");
}

TEST(Utf8, PrintsLinesAndFieldsAsTheyAre) {
  EXPECT_EQ(printable("a\tb\nc\r\x1B]0;title\x07"), "a\tb\nc\\x0D\\x1B]0;title\\x07");
  EXPECT_EQ(printable("{\"\xC2\x9B\": 1}\n"), "{\"\\u009B\": 1}\n");
  EXPECT_EQ(printable("\xE2\x80\x93 \xE2\x96\x81 caf\xC3\xA9"),
            "\xE2\x80\x93 \xE2\x96\x81 caf\xC3\xA9");
}

}  // namespace
}  // namespace linnet
