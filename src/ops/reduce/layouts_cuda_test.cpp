// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/layouts_cuda.h"

#include <gtest/gtest.h>

namespace linnet::cuda {
namespace {

const Shape kShapes[] = {Shape{},     Shape{5},          Shape{8},
                         Shape{3, 4}, Shape{2, 3, 4, 5}, Shape{4, 1, 6, 8}};

/// Calls f with the groups of every choice of axes of every shape.
template <class F>
void for_reductions(F f) {
  for (const Shape& shape : kShapes) {
    for (unsigned chosen = 0; chosen < 1U << shape.rank(); ++chosen) {
      std::vector<std::int64_t> axes;
      for (unsigned i = 0; i < shape.rank(); ++i) {
        if ((chosen >> i & 1U) != 0) axes.push_back(i);
      }
      SCOPED_TRACE(testing::Message() << shape.elements() << " elements, axes " << chosen);
      f(shape, reduce_groups(shape, axes));
    }
  }
}

/// Which output each element belongs to, as the fold goes over them.
std::vector<std::int64_t> outputs_of(const Shape& shape, const FoldLayout& s) {
  std::vector<std::int64_t> outputs(static_cast<std::size_t>(shape.elements()), -1);
  const int pack = s.in_rows ? 1 : s.width;  // of outputs
  for (std::int64_t output = 0; output < s.outputs; ++output) {
    for (std::int64_t e = 0; e < s.elements; ++e) {
      for (int w = 0; w < s.width; ++w) {
        std::int64_t& of =
            outputs[static_cast<std::size_t>(s.kept.place(output) + s.reduced.place(e) + w)];
        EXPECT_EQ(of, -1) << "two threads take it";
        of = output * pack + (s.in_rows ? 0 : w);
      }
    }
  }
  return outputs;
}

TEST(ReduceLayouts, AFoldTakesEveryElementOnceAndAGradientFindsItsOutput) {
  for_reductions([](const Shape& shape, const std::vector<ReduceGroup>& groups) {
    const auto fold = fold_layout(groups);
    ASSERT_TRUE(fold);
    EXPECT_EQ(fold->parts, 1U);
    EXPECT_EQ(fold->members & (fold->members - 1), 0);
    const std::vector<std::int64_t> outputs = outputs_of(shape, *fold);
    for (const int width : {1, 4}) {
      const auto spread = spread_layout(groups, width);
      if (!spread) continue;
      EXPECT_EQ(spread->items * width, shape.elements());
      for (std::int64_t i = 0; i < shape.elements(); ++i) {
        const std::int64_t found =
            spread->outputs.place(i / width) + i % width * spread->output_of_next;
        EXPECT_EQ(found, outputs[static_cast<std::size_t>(i)]) << "element " << i;
      }
    }
  });
}

TEST(ReduceLayouts, FewOutputsAreAddedByManyBlocks) {
  const std::vector<ReduceGroup> groups = {{64, 1, false}, {1 << 20, 64, true}};
  EXPECT_EQ(fold_layout(groups)->parts, 1U);
  const FoldLayout parts = *fold_layout(groups, true);
  EXPECT_GE(parts.parts, 128U);
  EXPECT_LE(parts.elements / parts.members / parts.parts, 1024);  // added one to the other
  EXPECT_FALSE(fold_layout(std::vector<ReduceGroup>(kMaxGroups + 1)));
}

}  // namespace
}  // namespace linnet::cuda
