// SPDX-License-Identifier: Apache-2.0
#include "describe/nearest.h"

#include <gtest/gtest.h>

#include "describe/other_names.h"

namespace linnet {
namespace {

TEST(Nearest, FindsTheNameThatWasMeant) {
  const std::vector<std::string> names{"filters", "kernel", "stride", "padding"};
  EXPECT_EQ(nearest("kernal", names), "kernel");    // one letter replaced
  EXPECT_EQ(nearest("filter", names), "filters");   // one left out
  EXPECT_EQ(nearest("strride", names), "stride");   // one too many
  EXPECT_EQ(nearest("paddign", names), "padding");  // two swapped
}

TEST(Nearest, IgnoresCase) {
  EXPECT_EQ(nearest("RMSProp", {"adam", "rmsprop"}), "rmsprop");
  EXPECT_EQ(nearest("SGD", {"adam", "sgd"}), "sgd");
  EXPECT_EQ(nearest("UMSATZ", {"Umsatz", "Datum"}), "Umsatz");
}

TEST(OtherNames, AreThoseOfTheArgumentsThatAreThere) {
  EXPECT_EQ(meant_among("lr", {"epochs", "learning_rate"}), "; did you mean 'learning_rate'?");
  EXPECT_EQ(meant_among("batch_size", {"epochs", "batch"}), "; did you mean 'batch'?");
  EXPECT_EQ(meant_among("lr", {"epochs"}), "");
  EXPECT_EQ(meant_among("epoch", {"epochs"}), "; did you mean 'epochs'?") << "a misspelling";
}

TEST(Nearest, ASwapCostsOneEdit) {
  EXPECT_EQ(nearest("ab", {"ba", "cd"}), "ba");
  EXPECT_EQ(nearest("abcd", {"axyd", "bacd"}), "bacd");
}

TEST(Nearest, SaysNothingWhereNothingIsNear) {
  EXPECT_EQ(nearest("zzzzzz", {"kernel", "stride"}), "");
  EXPECT_EQ(nearest("x", {"y"}), "");  // a whole name replaced is not a guess
  EXPECT_EQ(nearest("x", {}), "");
  EXPECT_EQ(did_you_mean("zzzzzz", {"kernel"}), "");
}

TEST(Nearest, MakesSentences) {
  EXPECT_EQ(did_you_mean("kernal", {"kernel"}), "; did you mean 'kernel'?");
  EXPECT_EQ(did_you_mean("kernal", {"kernel"}, "expected"), "; did you mean 'kernel'?");
  EXPECT_EQ(did_you_mean("zzzzzz", {"kernel", "stride"}, "it has"), "; it has kernel or stride");
  EXPECT_EQ(listed({"a", "b", "c"}), "a, b or c");
  EXPECT_EQ(listed({"a"}), "a");
  EXPECT_EQ(listed({}), "nothing");
}

TEST(Listed, NamesAsManyAsASentenceHasRoomFor) {
  EXPECT_EQ(listed({"a"}), "a");
  EXPECT_EQ(listed({"a", "b", "c"}), "a, b or c");
  EXPECT_EQ(some_of({"a", "b", "c"}, 2), "a, b and 1 more");
  EXPECT_EQ(quoted({"a", "b", "c"}, 2), "'a', 'b' and 1 more");
  EXPECT_EQ(quoted({"a"}), "'a'");
  const std::vector<std::string> many(100'000, "column_1");
  for (const std::string& text : {listed(many), some_of(many, many.size()), quoted(many)}) {
    EXPECT_LT(text.size(), 1100U);
    EXPECT_TRUE(text.ends_with(" more")) << text;
  }
  const std::vector<std::string> long_names(3, std::string(1 << 20, 'x'));
  EXPECT_LT(listed(long_names).size(), 1000U);
  EXPECT_EQ(nearest(long_names[0], long_names), "");
}

}  // namespace
}  // namespace linnet
