// SPDX-License-Identifier: Apache-2.0
// What files make the library allocate, and what it says where memory is short.
#include <linnet/linnet.h>

#include <new>

#include "data/data_files.h"
#include "data/image_transform.h"
#include "data/xz_file.h"
#include "datasets/load_dataset.h"
#include "datasets/texts.h"
#include "formats/idx.h"
#include "formats/packed.h"
#include "formats/safetensors.h"
#include "hostile/heap.h"

namespace linnet::test {
namespace {

using linnet::testing::heap_is_counted;
using linnet::testing::HeapLimit;

constexpr std::size_t kMiB = std::size_t{1} << 20;

class Memory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!heap_is_counted()) GTEST_SKIP();
  }
  TemporaryFolder folder_;
};

TEST_F(Memory, TheLimitLimits) {
  const HeapLimit limit(kMiB);
  // Called directly, since a compiler may leave out the memory of a vector that nobody reads.
  EXPECT_THROW(::operator delete(::operator new(2 * kMiB)), std::bad_alloc);
  EXPECT_NO_THROW(::operator delete(::operator new(kMiB / 2)));
  EXPECT_GE(limit.peak(), kMiB / 2);
  EXPECT_LT(limit.peak(), kMiB);
}

TEST_F(Memory, APackedFileThatIsTooLongTakesNone) {
  const std::string content(64 * kMiB, 'x');
  const auto by_gzip = folder_.write("a", gzip(content));
  const auto by_xz = folder_.write("b", xz(content));
  for (const auto& path : {by_gzip, by_xz}) {
    const HeapLimit limit(2 * kMiB);
    EXPECT_EQ(error_of([&] { read_unpacked(path, kMiB); }),
              quoted(path) + " unpacks to more than 1048576 bytes");
  }
}

TEST_F(Memory, APackedFileTakesItsContentOnce) {
  const std::string content(64 * kMiB, 'x');
  const auto by_gzip = folder_.write("a", gzip(content));
  const auto by_xz = folder_.write("b", xz(content));
  for (const auto& path : {by_gzip, by_xz}) {
    const HeapLimit limit(66 * kMiB);
    EXPECT_EQ(read_unpacked(path, 64 * kMiB).size(), content.size());
  }
}

TEST_F(Memory, AnIdxFileTakesItsContentOnce) {
  const std::string file = idx({1024, 32, 1024});
  for (const auto& path : {folder_.write("a", file), folder_.write("b", gzip(file))}) {
    const HeapLimit limit(34 * kMiB);
    EXPECT_EQ(read_idx(path, 3).bytes.size(), 32 * kMiB);
  }
}

TEST_F(Memory, AnIdxHeaderTakesNoMoreThanItsFileCanHold) {
  const std::string header = number(0x803, 4, true) + number(1U << 20, 4, true) +
                             number(1U << 10, 4, true) + number(1U << 10, 4, true);
  for (const auto& path : {folder_.write("a", header), folder_.write("b", gzip(header))}) {
    const HeapLimit limit(kMiB);
    EXPECT_EQ(
        error_of([&] { read_idx(path, 3); }),
        quoted(path) +
            " gives 1048576 x 1024 x 1024 = 1099511627776 bytes after its header, but has only 0");
  }
}

TEST_F(Memory, AnArrayTakesItsContentOnce) {
  const auto path = folder_ / "a.npy";
  write_npy(path, Tensor(DType::u8, {32 * kMiB}));
  const HeapLimit limit(33 * kMiB);
  EXPECT_EQ(read_npy(path).bytes().size(), 32 * kMiB);
}

TEST_F(Memory, APackedTableOfReviewsTakesALineAtATime) {
  folder_.write("test.tsv", "0\tbad\n");
  const auto path = folder_.write("train.tsv.xz", xz(std::string(64 * kMiB, '\n')));
  {
    const HeapLimit limit(2 * kMiB);
    EXPECT_EQ(error_of([&] { load_texts(folder_.path()); }), quoted(path) + " holds no texts");
  }
  folder_.write("train.tsv.xz", xz("0\t" + std::string(64 * kMiB, 'x')));
  const HeapLimit limit(64 * kMiB);
  EXPECT_EQ(error_of([&] { load_texts(folder_.path()); }),
            "line 1 of " + quoted(path) + " has more than 16777216 bytes");
}

TEST_F(Memory, AHighNarrowImageIsResizedInLittle) {
  Image image{.height = 1'000'000, .width = 67, .channels = 3, .pixels = {}};
  image.pixels.assign(static_cast<std::size_t>(image.height * image.width * image.channels), 9);
  const HeapLimit limit(64 * kMiB);  // most of it the weights, two for each row
  const Image small = resize_image(image, 224, 224);
  EXPECT_EQ(small.pixels, std::vector<std::uint8_t>(224 * 224 * 3, 9));
}

TEST_F(Memory, WeightsThatTheFileDoesNotHoldAreNotMade) {
  const Network network({4}, {Dense{.units = 500'000'000, .name = "d"}});
  const std::vector<float> bias(3);
  const auto path = folder_ / "model.safetensors";
  write_safetensors(path,
                    std::vector<TensorView>{
                        {"d.bias", DType::f32, Shape{3}, std::as_bytes(std::span(bias))}},
                    {{"linnet.network", network.to_json()}});
  const HeapLimit limit(kMiB);
  EXPECT_EQ(error_of([&] { Model::load(path); }),
            "cannot load the model " + quoted(path) + ": the weight 'd.weight' is missing");
}

TEST_F(Memory, SaysWhatDoesNotFit) {
  const auto image =
      folder_.write("a/1.bmp", encode_bmp({3000, 1000, 3, std::vector<std::uint8_t>(9'000'000)}));
  {
    const HeapLimit limit(10 * kMiB);
    EXPECT_EQ(error_of([&] { read_image(image); }),
              quoted(image) + ", an image of 3000 x 1000 pixels, does not fit into memory");
  }
  {
    const HeapLimit limit(kMiB);
    EXPECT_EQ(error_of([&] { read_image(image); }),
              "cannot read " + quoted(image) + ": its 9000054 bytes do not fit into memory");
  }
  const std::string file = idx({1024, 32, 1024});
  const auto images = folder_.write("idx", file);
  const HeapLimit limit(kMiB);
  EXPECT_EQ(error_of([&] { read_idx(images, 3); }), quoted(images) + " does not fit into memory");
}

TEST_F(Memory, SaysWhichModelDoesNotFit) {
  const auto path = folder_ / "model.safetensors";
  Model(Network({1000}, {Dense{.units = 1000}})).save(path);
  const HeapLimit limit(6 * kMiB);  // the file, but not its weights once more
  EXPECT_EQ(error_of([&] { Model::load(path, {.threads = 1}); }),
            "cannot load the model " + quoted(path) + ": it does not fit into memory");
}

TEST_F(Memory, SaysWhichPredictionsDoNotFit) {
  Model model(Network({1}, {Dense{.units = 1000}}), {.threads = 1});
  const Dataset data({{"x", Tensor(DType::f32, {1000, 1})}});
  const HeapLimit limit(2 * kMiB);
  EXPECT_EQ(error_of([&] { model.predict(data); }),
            "a tensor of f32 (1000, 1000) does not fit into memory");
}

}  // namespace
}  // namespace linnet::test
