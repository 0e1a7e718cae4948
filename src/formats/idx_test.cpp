// SPDX-License-Identifier: Apache-2.0
#include "formats/idx.h"

#include "data/contents.h"
#include "data/data_files.h"
#include "datasets/mnist.h"

namespace linnet::test {
namespace {

TEST(Idx, ReadsPlainAndPackedFilesAlike) {
  const TemporaryFolder folder;
  const IdxArray plain = read_idx(folder.write("plain", idx({3, 2, 2})), 3);
  EXPECT_EQ(plain.dims, (std::vector<std::int64_t>{3, 2, 2}));
  EXPECT_EQ(plain.bytes, (std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  // The content decides, not the name.
  const IdxArray packed = read_idx(folder.write("packed", gzip(idx({3, 2, 2}))), 3);
  EXPECT_EQ(packed.bytes, plain.bytes);
}

TEST(Idx, ReadsAFileOfSeveralGzipMembers) {
  const TemporaryFolder folder;
  const std::string file = idx({300});
  const auto path = folder.write("x.gz", gzip(file.substr(0, 100)) + gzip(file.substr(100)));
  EXPECT_EQ(read_idx(path, 1).bytes.size(), 300U);
}

TEST(Idx, NamesAMissingFile) {
  const TemporaryFolder folder;
  const std::string path = (folder / "none").string();
  EXPECT_EQ(error_of([&] { read_idx(path, 1); }),
            "cannot read '" + path + "': No such file or directory");
}

TEST(Idx, RefusesACutHeader) {
  const TemporaryFolder folder;
  const auto path = folder.write("x", idx({3, 2, 2}).substr(0, 15));
  const std::string expected = quoted(path) +
                               " is cut short: an IDX header of 3 dimensions takes 16 bytes, the "
                               "file has 15";
  EXPECT_EQ(error_of([&] { read_idx(path, 3); }), expected);
  folder.write("x", gzip(idx({3, 2, 2}).substr(0, 15)));
  EXPECT_EQ(error_of([&] { read_idx(path, 3); }), expected);
}

TEST(Idx, RefusesAnotherMagic) {
  const TemporaryFolder folder;
  const auto path = folder.write("x", idx({30}));
  EXPECT_EQ(error_of([&] { read_idx(path, 3); }),
            quoted(path) +
                " is not an IDX file of bytes with 3 dimensions: expected magic 0x00000803, got "
                "0x00000801");
}

TEST(Idx, RefusesContentOfAnotherSize) {
  const TemporaryFolder folder;
  const std::string file = idx({3, 2, 2});
  const auto path = folder.write("x", file.substr(0, file.size() - 1));
  const std::string start = quoted(path) + " gives 3 x 2 x 2 = 12 bytes after its header, ";
  EXPECT_EQ(error_of([&] { read_idx(path, 3); }), start + "but has only 11");
  folder.write("x", file + "!");
  EXPECT_EQ(error_of([&] { read_idx(path, 3); }), start + "but goes on to at least 13");
  folder.write("x", gzip(file + "!!"));
  EXPECT_EQ(error_of([&] { read_idx(path, 3); }), start + "but goes on to at least 13");
}

TEST(Idx, AllocatesNothingOnAHeadersWord) {
  const TemporaryFolder folder;
  const std::string header = number(0x803, 4, true) + std::string(12, '\xff');
  const auto path = folder.write("x", header);
  EXPECT_EQ(error_of([&] { read_idx(path, 3); }),
            quoted(path) + " gives more elements than memory can hold");
  // 2^56 bytes, which the count can say but no machine holds.
  const std::string large = number(0x803, 4, true) + number(1U << 31, 4, true) +
                            number(1U << 24, 4, true) + number(2, 4, true);
  folder.write("x", gzip(large + "content"));
  EXPECT_EQ(error_of([&] { read_idx(path, 3); }),
            quoted(path) +
                " gives 2147483648 x 16777216 x 2 = 72057594037927936 bytes after its header, but "
                "has only 7");
}

TEST(Idx, RefusesDamagedGzip) {
  const TemporaryFolder folder;
  std::string packed = gzip(idx({5000}));
  const auto path = folder.write("x", packed.substr(0, packed.size() - 5));
  EXPECT_EQ(error_of([&] { read_idx(path, 1); }),
            quoted(path) + " is cut short: its gzip data ends after 5008 unpacked bytes");
  folder.write("x", packed + "rubbish");
  EXPECT_EQ(error_of([&] { read_idx(path, 1); }),
            quoted(path) + " has 7 bytes after its gzip data");
  packed[packed.size() - 6] ^= 1;
  folder.write("x", packed);
  EXPECT_EQ(error_of([&] { read_idx(path, 1); }),
            quoted(path) + " is damaged: incorrect data check");
}

TEST(Mnist, LoadsFourFiles) {
  const TemporaryFolder folder;
  write_mnist(folder);
  EXPECT_TRUE(holds_mnist(folder.path()));
  const Splits pair = load_mnist(folder.path());
  EXPECT_EQ(pair.train.info().name, "linnet-Mnist-LoadsFourFiles");
  EXPECT_EQ(sample_shape(pair.train), (Shape{2, 3, 1}));
  EXPECT_EQ(pair.train.size(), 6);
  EXPECT_EQ(pair.test.size(), 4);
  EXPECT_EQ(bytes(pair.train)[7], 7);
  EXPECT_EQ(labels(pair.train), (std::vector<std::int32_t>{0, 1, 2, 0, 1, 2}));
  // The largest label of both parts counts.
  EXPECT_EQ(pair.train.classes(), (std::vector<std::string>{"0", "1", "2", "3"}));
  EXPECT_EQ(pair.test.classes(), pair.train.classes());
}

TEST(Mnist, TakesNamesFromAList) {
  const TemporaryFolder folder;
  write_mnist(folder);
  const auto list = folder.write("classes.txt", "a\r\n b c \n\nd\ne");
  EXPECT_EQ(load_mnist(folder.path()).test.classes(),
            (std::vector<std::string>{"a", "b c", "d", "e"}));
  folder.write("classes.txt", "a\nb\n");
  EXPECT_EQ(error_of([&] { load_mnist(folder.path()); }),
            quoted(list) + " names 2 classes, but its labels go up to 3");
}

TEST(Mnist, NamesTheFileThatIsMissing) {
  const TemporaryFolder folder;
  write_mnist(folder);
  std::filesystem::remove(folder / "t10k-labels-idx1-ubyte");
  EXPECT_TRUE(holds_mnist(folder.path()));
  EXPECT_EQ(error_of([&] { load_mnist(folder.path()); }),
            quoted(folder.path()) +
                " has no t10k-labels-idx1-ubyte (or .gz) beside its other IDX files");
}

TEST(Mnist, RefusesFilesThatDisagree) {
  const TemporaryFolder folder;
  write_mnist(folder);
  const auto labels = folder.write("t10k-labels-idx1-ubyte", idx({5}));
  EXPECT_EQ(error_of([&] { load_mnist(folder.path()); }),
            quoted(folder / "t10k-images-idx3-ubyte.gz") + " has 4 images but " + quoted(labels) +
                " has 5 labels");
  folder.write("t10k-labels-idx1-ubyte", idx({4}));
  folder.write("t10k-images-idx3-ubyte.gz", idx({4, 2, 2}));
  EXPECT_EQ(error_of([&] { load_mnist(folder.path()); }),
            std::string("the images of ") + quoted(folder.path()) +
                " are (2, 3, 1) for training but (2, 2, 1) for testing");
  const auto empty = folder.write("t10k-images-idx3-ubyte.gz", idx({4, 0, 2}));
  EXPECT_EQ(error_of([&] { load_mnist(folder.path()); }),
            std::string("the images of ") + quoted(empty) +
                " are 0 x 2 pixels; expected at least one");
}

}  // namespace
}  // namespace linnet::test
