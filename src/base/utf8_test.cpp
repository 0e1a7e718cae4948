// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <gtest/gtest.h>

namespace linnet {
namespace {

TEST(Utf8, KnowsWellFormedText) {
  for (const char* text : {"", "cat", "caf\xC3\xA9", "\xE7\x8C\xAB", "\xF0\x9F\x90\x88",
                           "\xED\x9F\xBF", "\xEE\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
    EXPECT_EQ(escaped(text), text);
  }
}

TEST(Utf8, RefusesWhatIsNoUtf8) {
  for (const char* text : {"caf\xE9", "\x80", "\xC3", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80",
                           "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE7\x8C", "\xFF\xFE"}) {
    EXPECT_FALSE(is_utf8(text)) << escaped(text);
  }
}

TEST(Utf8, EscapesTheBytesThatAreNoneAndControlCharacters) {
  EXPECT_EQ(escaped("caf\xE9!"), "caf\\xE9!");
  EXPECT_EQ(escaped("\xE7\x8C"), "\\xE7\\x8C");
  EXPECT_EQ(escaped("a\nb\x7F"), "a\\x0Ab\\x7F");
  EXPECT_EQ(escaped("\xC3\xA9\xE9"), "\xC3\xA9\\xE9");
}

}  // namespace
}  // namespace linnet
