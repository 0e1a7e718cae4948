// SPDX-License-Identifier: Apache-2.0
#include "datasets/cifar.h"
#include "data/subsample.h"

#include "data/contents.h"
#include "data/data_files.h"

namespace linnet::test {
namespace {

/// One record: the labels, then planes filled with `first`, `first` + 1 and `first` + 2, whose
/// second pixel is 50 brighter.
std::string record(const std::string& labels, char first) {
  std::string text = labels;
  for (int plane = 0; plane < 3; ++plane) {
    std::string pixels(1024, static_cast<char>(first + plane));
    pixels[1] = static_cast<char>(pixels[1] + 50);
    text += pixels;
  }
  return text;
}

void write_cifar10(const TemporaryFolder& folder) {
  folder.write("data_batch_1.bin", record("\x03", 10) + record("\x09", 20));
  folder.write("data_batch_2.bin", record("\x01", 30));
  folder.write("test_batch.bin", record("\x07", 40));
}

TEST(Cifar, LoadsCifar10WithChannelsLast) {
  const TemporaryFolder folder;
  write_cifar10(folder);
  EXPECT_TRUE(holds_cifar(folder.path()));
  const Splits pair = load_cifar(folder.path());
  EXPECT_EQ(pair.train.info().name, "cifar-10");
  EXPECT_EQ(sample_shape(pair.train), (Shape{32, 32, 3}));
  EXPECT_EQ(labels(pair.train), (std::vector<std::int32_t>{3, 9, 1}));
  EXPECT_EQ(labels(pair.test), (std::vector<std::int32_t>{7}));
  EXPECT_EQ(bytes(pair.train, 0, 9),
            (std::vector<std::uint8_t>{10, 11, 12, 60, 61, 62, 10, 11, 12}));
  EXPECT_EQ(bytes(pair.train)[2 * 3072], 30);
  EXPECT_EQ(pair.train.inputs()[0].name, "image");
  EXPECT_EQ(pair.train.targets()[0].name, "label");
  EXPECT_EQ(classes(pair.train), 10);
  EXPECT_EQ(pair.test.classes()[9], "truck");
  EXPECT_NO_THROW(pair.train.check_labels());
}

TEST(Cifar, ReadsAPartOfTheSamplesSpreadOverAllFiles) {
  const TemporaryFolder folder;
  write_cifar10(folder);
  const Splits pair = load_cifar(folder.path(), {.train_samples = 2, .test = false});
  EXPECT_EQ(labels(pair.train), (std::vector<std::int32_t>{3, 9}));
  EXPECT_EQ(bytes(pair.train)[3072], 20);
  EXPECT_EQ(pair.test.size(), 0);
  EXPECT_EQ(sample_shape(pair.test), (Shape{32, 32, 3}));
  Splits all = load_cifar(folder.path(), {.train_samples = 4});
  EXPECT_EQ(labels(all.train), (std::vector<std::int32_t>{3, 9, 1}));
  subsample(all.train, 2);
  EXPECT_EQ(bytes(all.train), bytes(pair.train));
}

TEST(Cifar, TakesNamesFromTheMetaFile) {
  const TemporaryFolder folder;
  write_cifar10(folder);
  const auto names = folder.write("batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n");
  EXPECT_EQ(load_cifar(folder.path()).train.classes()[9], "j");
  folder.write("batches.meta.txt", "a\nb\n");
  EXPECT_EQ(error_of([&] { load_cifar(folder.path()); }),
            quoted(names) + " names 2 classes; expected 10, those of CIFAR-10");
}

TEST(Cifar, LoadsTheFineLabelsOfCifar100) {
  const TemporaryFolder folder;
  folder.write("train.bin", record("\x01\x63", 10));
  folder.write("test.bin", record("\x02\x05", 20) + record("\x03\x06", 30));
  EXPECT_TRUE(holds_cifar(folder.path()));
  const Splits pair = load_cifar(folder.path());
  EXPECT_EQ(pair.train.info().name, "cifar-100");
  EXPECT_EQ(labels(pair.train), (std::vector<std::int32_t>{99}));
  EXPECT_EQ(labels(pair.test), (std::vector<std::int32_t>{5, 6}));
  EXPECT_EQ(bytes(pair.test)[0], 20);
  EXPECT_EQ(classes(pair.train), 100);
}

TEST(Cifar, LoadsTheCoarseLabelsOfCifar100) {
  const TemporaryFolder folder;
  folder.write("train.bin", record("\x13\x63", 10));
  const auto test = folder.write("test.bin", record("\x02\x05", 20));
  const Splits pair = load_cifar(folder.path(), {.labels = CifarLabels::coarse});
  EXPECT_EQ(classes(pair.train), 20);
  EXPECT_EQ(labels(pair.train), (std::vector<std::int32_t>{19}));
  EXPECT_EQ(labels(pair.test), (std::vector<std::int32_t>{2}));
  folder.write("test.bin", record("\x14\x05", 20));
  EXPECT_EQ(error_of([&] { load_cifar(folder.path(), {.labels = CifarLabels::coarse}); }),
            "label 20 of record 0 in " + quoted(test) + " is outside [0, 20)");
  write_cifar10(folder);
  EXPECT_EQ(error_of([&] { load_cifar(folder.path(), {.labels = CifarLabels::coarse}); }),
            quoted(folder.path()) +
                " holds CIFAR-10, which has no coarse labels; only CIFAR-100 has them");
}

TEST(Cifar, RefusesAFileOfAnotherSize) {
  const TemporaryFolder folder;
  write_cifar10(folder);
  const auto path = folder.write("data_batch_2.bin", record("\x01", 30) + "!");
  EXPECT_EQ(error_of([&] { load_cifar(folder.path()); }),
            quoted(path) +
                " has 3074 bytes; expected a multiple of 3073, the size of a CIFAR-10 record");
  folder.write("data_batch_2.bin", "");
  EXPECT_EQ(error_of([&] { load_cifar(folder.path()); }),
            quoted(path) +
                " has 0 bytes; expected a multiple of 3073, the size of a CIFAR-10 record");
}

TEST(Cifar, RefusesALabelOutside) {
  const TemporaryFolder folder;
  write_cifar10(folder);
  const auto path = folder.write("test_batch.bin", record("\x02", 1) + record("\x0a", 1));
  EXPECT_EQ(error_of([&] { load_cifar(folder.path()); }),
            std::string("label 10 of record 1 in ") + quoted(path) + " is outside [0, 10)");
}

TEST(Cifar, NamesTheFileThatIsMissing) {
  const TemporaryFolder folder;
  folder.write("data_batch_1.bin", record("\x03", 10));
  const std::string name = quoted(folder.path());
  EXPECT_EQ(error_of([&] { load_cifar(folder.path()); }),
            name + " has data_batch_1.bin but no test_batch.bin");
  std::filesystem::remove(folder / "data_batch_1.bin");
  EXPECT_FALSE(holds_cifar(folder.path()));
  folder.write("test_batch.bin", record("\x03", 10));
  EXPECT_TRUE(holds_cifar(folder.path()));
  EXPECT_EQ(error_of([&] { load_cifar(folder.path()); }),
            name + " has test_batch.bin but no data_batch_*.bin");
}

}  // namespace
}  // namespace linnet::test
