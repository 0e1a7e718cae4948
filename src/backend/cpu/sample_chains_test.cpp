// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/sample_chains.h"

#include <gtest/gtest.h>

#include "fake_op.h"

namespace linnet::cpu {
namespace {

using linnet::testing::add_fake_one;
using linnet::testing::floats;

constexpr std::int64_t kSamples = 64;

/// A kernel that computes its operands `inputs` and its output sample by sample.
Kernel by_sample(std::vector<std::size_t> inputs, std::int64_t samples = kSamples) {
  return sample_stage(samples, 1.0, std::move(inputs), {0}, [](const Args&, Range) {});
}

/// A kernel that needs all of its operands.
Kernel whole() {
  Kernel kernel;
  kernel.stages.push_back(parallel(1, [](const Args&) {}));
  return kernel;
}

class SampleChains : public ::testing::Test {
 protected:
  Value value(std::int64_t size = kSamples) {
    return graph_.add_value("v", floats(size), Storage::external);
  }
  Value node(std::vector<Value> inputs, Kernel kernel, std::int64_t size = kSamples) {
    kernels_.push_back(std::move(kernel));
    return add_fake_one(graph_, {.elements = size}, std::move(inputs), "node");
  }
  std::vector<std::vector<std::size_t>> found() const {
    std::vector<std::vector<std::size_t>> nodes;
    for (const SampleChain& chain : find_sample_chains(graph_, kernels_)) {
      nodes.push_back(chain.nodes);
    }
    return nodes;
  }

  using Chains = std::vector<std::vector<std::size_t>>;
  Graph graph_;
  std::vector<Kernel> kernels_;
};

TEST_F(SampleChains, GoThroughWhatNeedsAllSamples) {
  const Value a = node({value()}, by_sample({0}));
  node({a}, whole());
  const Value b = node({a}, by_sample({0}));
  node({b}, by_sample({0}));
  EXPECT_EQ(found(), (Chains{{0, 2, 3}}));
}

TEST_F(SampleChains, EndBeforeWhatWaitsForAllSamples) {
  const Value a = node({value()}, by_sample({0}));
  const Value all = node({a}, whole());
  node({all}, by_sample({0}));
  EXPECT_EQ(found(), Chains{});
}

TEST_F(SampleChains, EndBeforeAnOperandThatIsReadWhole) {
  const Value a = node({value()}, by_sample({0}));
  node({a}, by_sample({}));
  EXPECT_EQ(found(), Chains{});
}

TEST_F(SampleChains, HaveOneNumberOfSamples) {
  const Value a = node({value()}, by_sample({0}));
  node({a}, by_sample({0}, kSamples / 2));
  EXPECT_EQ(found(), Chains{});
}

TEST_F(SampleChains, DoNotReachFar) {
  const Value a = node({value()}, by_sample({0}));
  for (int i = 0; i < 5; ++i) node({a}, whole());
  node({a}, by_sample({0}));
  EXPECT_EQ(found(), Chains{});
}

TEST_F(SampleChains, ComputeWhatTheCacheHolds) {
  const std::int64_t large = std::int64_t{16} << 10;  // floats a sample
  const Value a = node({value()}, by_sample({0}), kSamples * large);
  node({a}, by_sample({0}), kSamples * large);
  const std::vector<SampleChain> chains = find_sample_chains(graph_, kernels_);
  ASSERT_EQ(chains.size(), 1U);
  EXPECT_EQ(chains[0].block, 4);  // of 128 KiB each
  EXPECT_EQ(chains[0].parts(), 8);
}

}  // namespace
}  // namespace linnet::cpu
