// SPDX-License-Identifier: Apache-2.0
// Counts the bytes that are allocated: a data set of the caller's memory is never copied.
#include <gtest/gtest.h>
#include <linnet/layers.h>
#include <linnet/trainer.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> allocated{0};

[[maybe_unused]] void* counted(std::size_t bytes, std::size_t alignment) {
  allocated += bytes;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (void* memory = std::aligned_alloc(alignment, rounded > 0 ? rounded : alignment))
    return memory;
  throw std::bad_alloc();
}

}  // namespace

// A sanitizer has operators of its own, and wants memory to go back the way it came.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCounts = false;
#else
constexpr bool kCounts = true;
void* operator new(std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new[](std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
#endif

namespace linnet {
namespace {

constexpr std::int64_t kSamples = 16384;
constexpr std::int64_t kPixels = 32;
constexpr std::size_t kElements = std::size_t{kSamples} * kPixels * kPixels;

/// The bytes that `work` allocates.
template <class Work>
std::uint64_t bytes_of(const Work& work) {
  const std::uint64_t before = allocated;
  work();
  return allocated - before;
}

std::vector<std::int32_t> labels() {
  std::vector<std::int32_t> labels(kSamples);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i % 3);
  return labels;
}

Model small_model() {
  return Model(Network({kPixels, kPixels, 1}, {AvgPool2d{.size = 8}, Flatten{}, Dense{.units = 3}}),
               {.device = "cpu", .threads = 1});
}

TEST(Borrow, TheCounterCounts) {
  if (!kCounts) GTEST_SKIP();
  EXPECT_GE(bytes_of([] { Tensor(DType::u8, {1000}); }), 1000U);
  EXPECT_GE(bytes_of([] { std::vector<float>(1000).resize(2000); }), 12000U);
}

TEST(Borrow, ATensorAllocatesNothing) {
  if (!kCounts) GTEST_SKIP();
  const std::vector<float> values(1000);
  EXPECT_EQ(bytes_of([&] {
              const Tensor tensor = Tensor::borrow(values, {10, 100});
              const Tensor rows = tensor.rows(2, 5).reshaped({300});
              EXPECT_EQ(rows.as<float>().size(), 300U);
            }),
            0U);
}

template <class T>
void expect_no_copy() {
  if (!kCounts) GTEST_SKIP();
  const std::vector<T> samples(kElements, T{1});
  const std::vector<std::int32_t> targets = labels();
  Dataset data;
  EXPECT_LT(bytes_of([&] {
              data = Dataset({{"image", Tensor::borrow(samples, {kSamples, kPixels, kPixels, 1})}},
                             {{"label", Tensor::borrow(targets, {kSamples})}});
            }),
            4096U);
  EXPECT_EQ(data.inputs()[0].data.template as<T>().data(), samples.data());
  EXPECT_LT(bytes_of([&] {
              const Dataset part = data.rows(100, kSamples - 100);
              EXPECT_EQ(part.inputs()[0].data.template as<T>().data(),
                        samples.data() + 100 * kPixels * kPixels);
            }),
            4096U);
  Model model = small_model();
  History history;
  // What a training needs is the same for any number of samples.
  constexpr std::uint64_t kMost = kElements / 4;
  EXPECT_LT(bytes_of([&] { history = train(model, data, {.epochs = 1, .batch = 64}); }), kMost);
  EXPECT_LT(history.planned_bytes, kMost) << "memory of the device's";
  EXPECT_EQ(history.epochs.at(0).train.samples, kSamples);
  EXPECT_LT(bytes_of([&] { evaluate(model, data); }), kMost);
  EXPECT_LT(bytes_of([&] { model.predict(data); }), kMost);
}

TEST(Borrow, TrainingOnBytesCopiesNoSamples) { expect_no_copy<std::uint8_t>(); }
TEST(Borrow, TrainingOnFloatsCopiesNoSamples) { expect_no_copy<float>(); }

}  // namespace
}  // namespace linnet
