// SPDX-License-Identifier: Apache-2.0
#include "datasets/fashion_mnist.h"

#include "data/contents.h"
#include "data/data_files.h"
#include "datasets/download.h"
#include "formats/checksum.h"

namespace linnet::test {
namespace {

/// A source of four small files under <folder>/server/, with nothing packaged.
FashionMnistSource small_source(const TemporaryFolder& folder) {
  FashionMnistSource source;
  source.packaged = folder / "packaged";
  source.base_url = "file://" + (folder / "server").string() + "/";
  const std::array<std::pair<std::string, std::string>, 4> files{{
      {"train-images-idx3-ubyte.gz", idx({6, 2, 3})},
      {"train-labels-idx1-ubyte.gz", idx({6}, 3)},
      {"t10k-images-idx3-ubyte.gz", idx({4, 2, 3})},
      {"t10k-labels-idx1-ubyte.gz", idx({4}, 4)},
  }};
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& [name, content] = files[i];
    folder.write("server/" + name, gzip(content));
    source.files[i] = {name, content.size(), sha256(content)};
  }
  return source;
}

std::string start_of_error(const TemporaryFolder& folder) {
  return std::string("cannot find Fashion-MNIST: neither ") + quoted(folder / "cache") + " nor " +
         quoted(folder / "packaged") + " (Debian's package dataset-fashion-mnist) holds it, and ";
}
constexpr std::string_view kEndOfError = "; the data set 'digits' needs no files";

TEST(Sha256, OfAKnownText) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Download, ReadsAFileAndKeepsToItsLimit) {
  const TemporaryFolder folder;
  const std::string url = "file://" + folder.write("x", "12345").string();
  EXPECT_EQ(download(url, 5), "12345");
  EXPECT_EQ(error_of([&] { download(url, 4); }),
            "cannot download '" + url + "': it has more than 4 bytes");
  EXPECT_EQ(error_of([] { download("gopher://x/y", 4); }).find("cannot download 'gopher://x/y': "),
            0U);
}

TEST(FashionMnist, DownloadsOnceIntoTheCache) {
  const TemporaryFolder folder;
  const FashionMnistSource source = small_source(folder);
  const Splits pair = read_fashion_mnist(folder / "cache", source);
  EXPECT_EQ(pair.train.info().name, "fashion-mnist");
  EXPECT_EQ(pair.train.size(), 6);
  EXPECT_EQ(labels(pair.test), (std::vector<std::int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(classes(pair.train), 10);
  EXPECT_EQ(pair.train.classes()[0], "T-shirt/top");
  EXPECT_EQ(pair.test.classes()[9], "Ankle boot");
  // The second time nothing is asked of the server.
  std::filesystem::remove_all(folder / "server");
  EXPECT_EQ(bytes(read_fashion_mnist(folder / "cache", source).train), bytes(pair.train));
}

TEST(FashionMnist, PrefersTheCacheThenThePackage) {
  const TemporaryFolder folder;
  FashionMnistSource source = small_source(folder);
  source.base_url = "file:///nowhere/";
  write_mnist(folder, "packaged/");
  EXPECT_EQ(read_fashion_mnist(folder / "cache", source).train.size(), 6);
  EXPECT_FALSE(std::filesystem::exists(folder / "cache"));
  write_mnist(folder, "cache/");
  folder.write("packaged/train-images-idx3-ubyte", "not looked at");
  EXPECT_EQ(read_fashion_mnist(folder / "cache", source).train.size(), 6);
}

TEST(FashionMnist, RefusesOtherContent) {
  const TemporaryFolder folder;
  const FashionMnistSource source = small_source(folder);
  const std::string other = idx({6}, 2);
  folder.write("server/train-labels-idx1-ubyte.gz", gzip(other));
  EXPECT_EQ(error_of([&] { read_fashion_mnist(folder / "cache", source); }),
            start_of_error(folder) + "'" + source.base_url +
                "train-labels-idx1-ubyte.gz' is not the expected file: its SHA-256 is " +
                sha256(other) + "; expected " + source.files[1].sha256 + std::string(kEndOfError));
  EXPECT_FALSE(std::filesystem::exists(folder / "cache" / source.files[1].name));
  folder.write("server/train-labels-idx1-ubyte.gz", "<html>Not found</html>");
  EXPECT_EQ(error_of([&] { read_fashion_mnist(folder / "cache", source); }),
            start_of_error(folder) + "'" + source.base_url +
                "train-labels-idx1-ubyte.gz' is damaged: incorrect header check" +
                std::string(kEndOfError));
}

TEST(FashionMnist, SaysWhatWasTried) {
  const TemporaryFolder folder;
  FashionMnistSource source = small_source(folder);
  source.base_url = "file:///nowhere/";
  const std::string message = error_of([&] { read_fashion_mnist(folder / "cache", source); });
  EXPECT_EQ(message.find(start_of_error(folder) +
                         "cannot download 'file:///nowhere/train-images-idx3-ubyte.gz': "),
            0U)
      << message;
  EXPECT_TRUE(message.ends_with(kEndOfError)) << message;
  EXPECT_NE(error_of([&] {
              read_fashion_mnist("", source);
            }).find("no folder for downloads is set"),
            std::string::npos);
  const auto file = folder.write("file", "");
  EXPECT_NE(error_of([&] {
              read_fashion_mnist(file / "cache", source);
            }).find("cannot create '" + file.string() + "/cache': Not a directory"),
            std::string::npos);
}

}  // namespace
}  // namespace linnet::test
