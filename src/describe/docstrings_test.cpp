// SPDX-License-Identifier: Apache-2.0
#include "describe/docstrings.h"

#include <gtest/gtest.h>

namespace linnet {
namespace {

TEST(Docstrings, BelongToStructsAndTheirMembers) {
  const std::vector<StructDocs> docs = parse_docstrings(R"(// a note
/// Convolves images. Weight
/// (filters).
struct Conv {
  enum class Mode : char {
    one,  ///< not a member
  };
  double filters = 0;  ///< of the output;
                             ///< at least 1
  /// Before it.
  std::vector<std::vector<Layer>> branches = {};
  bool bare = true;
  static constexpr Conv all(double n) { return {n}; }
  void build(NetworkBuilder& builder) const;
};

/// Of a function.
inline int f() { return 0; }

struct Plain {
  double x = 1;  ///< a number
};

/// Holds nothing.
struct Empty {};
)");
  ASSERT_EQ(docs.size(), 3U);
  EXPECT_EQ(docs[0].name, "Conv");
  EXPECT_EQ(docs[0].text, "Convolves images. Weight (filters).");
  ASSERT_EQ(docs[0].members.size(), 3U);
  EXPECT_EQ(docs[0].of("filters"), "of the output; at least 1");
  EXPECT_EQ(docs[0].of("branches"), "Before it.");
  EXPECT_EQ(docs[0].members[2].name, "bare");
  EXPECT_EQ(docs[0].of("bare"), "");
  EXPECT_EQ(docs[1].text, "");
  EXPECT_EQ(docs[1].of("x"), "a number");
  EXPECT_EQ(docs[2].name, "Empty");
  EXPECT_EQ(docs[2].text, "Holds nothing.");
  EXPECT_TRUE(docs[2].members.empty());
}

TEST(Docstrings, FirstSentencesEndAtAFullStop) {
  EXPECT_EQ(first_sentence("Adds a bias. Then more."), "Adds a bias.");
  EXPECT_EQ(first_sentence("By Ba et al. In 2016."), "By Ba et al. In 2016.");
  EXPECT_EQ(first_sentence("Of 0.5 and 1. of these"), "Of 0.5 and 1. of these");
}

}  // namespace
}  // namespace linnet
