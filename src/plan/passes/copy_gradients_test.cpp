// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "fake_op.h"
#include "ops/conv2d/conv2d.h"
#include "ops/copy_all/copy_all.h"
#include "plan/passes/passes.h"
#include "plan/plan.h"

namespace linnet {
namespace {

using testing::add_fake_one;

constexpr std::size_t kBytes = 3 * 3 * 3 * 4 * sizeof(float);  // of a gradient

/// Gradients of more filters than this are given as f32 alone.
constexpr std::int64_t kMostFilters = 8;

bool gives(const Op& op, std::span<const ValueType> /*inputs*/,
           std::span<const ValueType> outputs) {
  const bool half = outputs.front().dtype != DType::f32;
  const auto* conv = dynamic_cast<const Conv2dGradWeightOp*>(&op);
  return !half || (conv != nullptr && outputs.front().shape[0] <= kMostFilters);
}

/// A backward pass of convolutions of 4 channels, then what reads all gradients.
class CopyGradients : public ::testing::Test {
 protected:
  void add_gradients(int count, std::int64_t filters = 3) {
    for (int i = 0; i < count; ++i) {
      const Value dz = graph_.add_value("dz", {DType::f32, {2, 4, 4, filters}}, Storage::external,
                                        graph_.value_count());
      const Conv2dGradWeightOp op(
          {.conv = {.pad_top = 1, .pad_bottom = 1, .pad_left = 1, .pad_right = 1},
           .kernel_h = 3,
           .kernel_w = 3});
      const Value dw =
          graph_.add(std::make_shared<Conv2dGradWeightOp>(op), {x_, dz}, "conv").front();
      graph_.info(dw).storage = Storage::gradient;
      graph_.info(dw).offset = offset_;
      offset_ += 512 * static_cast<std::size_t>(filters);
    }
  }
  Value all() {
    return graph_.add_value("all", {DType::f32, {static_cast<std::int64_t>(offset_ / 4)}},
                            Storage::gradient);
  }
  /// Returns how many gradients each copy_all has, and proves the plan of the result.
  std::vector<std::size_t> copies() {
    const std::string before = dump(graph_);
    copy_gradients(graph_, gives);
    graph_.verify();
    store_bf16(graph_, gives);
    const auto none = [](const Node&) { return std::size_t{0}; };
    verify_plan(make_plan(graph_, none));
    const Plan plan = make_plan(graph_, none, {.branches = true});
    verify_plan(plan);
    std::vector<std::size_t> sizes;
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      const Node& node = graph_.nodes()[n];
      if (node.name == "conv" || node.op->name() == CopyAllOp::kName) {
        EXPECT_TRUE(plan.branches.is_side(n)) << dump(graph_);
      }
      if (node.op->name() != CopyAllOp::kName) continue;
      sizes.push_back(node.inputs.size());
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        EXPECT_EQ(graph_.type(node.inputs[i]).dtype, DType::bf16);
        EXPECT_EQ(graph_.type(node.outputs[i]).dtype, DType::f32);
        EXPECT_EQ(graph_.info(node.inputs[i]).storage, Storage::arena);
        EXPECT_EQ(graph_.info(node.outputs[i]).storage, Storage::gradient);
      }
    }
    if (sizes.empty()) {
      EXPECT_EQ(dump(graph_), before);
    }
    return sizes;
  }

  Graph graph_;
  Value x_ =
      add_fake_one(graph_, {},
                   {graph_.add_value("x", {DType::f32, {2, 4, 4, 4}}, Storage::external)}, "relu");
  std::size_t offset_ = 0;
};

TEST_F(CopyGradients, SomeAtATime) {
  add_gradients(20);
  add_fake_one(graph_, {}, {all()}, "finish");
  EXPECT_EQ(copies(), (std::vector<std::size_t>{16, 4}));
  EXPECT_EQ(graph_.nodes().back().name, "finish");
}

TEST_F(CopyGradients, BeforeSomebodyReadsThem) {
  add_gradients(3);
  const Value some =
      graph_.add_value("some", {DType::f32, {kBytes / 4}}, Storage::gradient, offset_ / 3);
  add_fake_one(graph_, {}, {some}, "sum");
  add_gradients(2);
  add_fake_one(graph_, {}, {all()}, "finish");
  EXPECT_EQ(copies(), (std::vector<std::size_t>{3, 2}));
}

TEST_F(CopyGradients, NotOfWhatIsGivenAsF32Alone) {
  add_gradients(2, kMostFilters + 1);
  add_fake_one(graph_, {}, {all()}, "finish");
  EXPECT_TRUE(copies().empty());
}

TEST_F(CopyGradients, TheLastNodesToo) {
  add_gradients(2);
  EXPECT_EQ(copies(), (std::vector<std::size_t>{2}));
}

}  // namespace
}  // namespace linnet
