// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "fixtures.h"
#include "needed_passes.h"
#include "networks/networks.h"

namespace {

std::atomic<std::uint64_t> allocations{0};

[[maybe_unused]] void* counted(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

// A sanitizer has operators of its own, and wants memory to go back the way it came.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kCounts = false;
#else
constexpr bool kCounts = true;
void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace linnet::testing {
namespace {

/// Looks at the count from the first to the last progress of the second epoch.
class Watch final : public Callback {
 public:
  void on_progress(const Progress& progress) override {
    if (progress.epoch != 2) return;
    if (first_ == 0) first_ = allocations;
    last_ = allocations;
    ++calls_;
  }
  std::uint64_t during() const { return last_ - first_; }
  int calls() const { return calls_; }

 private:
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
  int calls_ = 0;
};

TEST(Allocation, TheCounterCounts) {
  if (!kCounts) GTEST_SKIP();
  const std::uint64_t before = allocations;
  std::vector<int> vector(10);
  vector.resize(10000);
  EXPECT_GE(allocations - before, 2U);
}

TEST(Allocation, TheTrainingLoopAllocatesNothing) {
  LINNET_NEEDS_PASSES("fuse_conv2d_pool", "fuse_epilogue");
  if (!kCounts) GTEST_SKIP();
  const Dataset data = datasets::digits(2000, 0, 6).train;
  // Convolutions that oneDNN computes are left out: its C interface allocates at every call.
  Network deep({28, 28, 1},
               {Rescale{}, Conv2d{.filters = 16, .padding = Padding2d::same()}, ReLU{}, MaxPool2d{},
                BatchNorm{}, Conv2d{.filters = 12, .kernel = 5, .stride = 2}, Tanh{}, AvgPool2d{},
                Flatten{}, Dropout{}, Dense{.units = 10}});
  for (const Network& network : {workloads::mnist_cnn(), deep}) {
    Model model(network, {.threads = 2});
    Watch watch;
    train(model, data, {.epochs = 2, .batch = 16}, nullptr, &watch);
    EXPECT_GT(watch.calls(), 1);
    EXPECT_EQ(watch.during(), 0U);
  }
}

TEST(Allocation, APreparedPredictorAllocatesNothing) {
  LINNET_NEEDS_PASSES("fuse_conv2d_pool", "fuse_epilogue");
  if (!kCounts) GTEST_SKIP();
  const Dataset data = datasets::digits(8, 0, 6).train;
  const auto pixels = first_input(data).as<std::uint8_t>();
  for (const int threads : {1, 2}) {
    Model model(workloads::mnist_cnn(), {.threads = threads});
    const Predictor predictor(model);
    std::vector<float> outputs(80);
    const auto predict = [&] {
      predictor.predict(Tensor::borrow(pixels, {8, 28, 28, 1}), Tensor::borrow(outputs, {8, 10}));
    };
    predict();
    const std::uint64_t before = allocations;
    for (int i = 0; i < 3; ++i) predict();
    EXPECT_EQ(allocations, before) << threads << " threads";
  }
}

}  // namespace
}  // namespace linnet::testing
