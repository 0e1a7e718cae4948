// SPDX-License-Identifier: Apache-2.0
#include "formats/tar.h"

#include <utility>
#include <vector>

#include "data/data_files.h"
#include "data/tar_file.h"
#include "data/xz_file.h"

namespace linnet::test {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

Files files_of(const std::filesystem::path& archive) {
  Files files;
  read_tar(archive, [&](const std::string& path, std::string_view content) {
    files.emplace_back(path, content);
  });
  return files;
}

const std::string kLong(100000, 'x');  // more than a piece
const Files kTwo{{"a/1.txt", "one"}, {"a/2.txt", kLong}};

std::string two_files() {
  return tar_entry("a", "", '5') + tar_entry("a/1.txt", "one") + tar_entry("a/2.txt", kLong);
}

TEST(Tar, ReadsFilesPlainAndPacked) {
  const TemporaryFolder folder;
  EXPECT_EQ(files_of(folder.write("a.tar", two_files() + kTarEnd + "what follows is not read")),
            kTwo);
  EXPECT_EQ(files_of(folder.write("a.tar.gz", gzip(two_files() + kTarEnd))), kTwo);
  EXPECT_EQ(files_of(folder.write("a.txz", xz(two_files() + kTarEnd))), kTwo);
  EXPECT_EQ(files_of(folder.write("cut.tar", two_files())), kTwo);  // without its last blocks
  EXPECT_EQ(files_of(folder.write("even.tar", tar_entry("b", std::string(512, 'y')) + kTarEnd)),
            (Files{{"b", std::string(512, 'y')}}));
  EXPECT_TRUE(is_tar_name("x/a.tar.xz"));
  EXPECT_FALSE(is_tar_name("x/a.xz"));
}

TEST(Tar, ReadsLongNames) {
  const TemporaryFolder folder;
  const std::string name = fmt::format("{:n>120}/file", "");
  const std::string next = tar_entry("c", "three");
  EXPECT_EQ(files_of(folder.write("gnu.tar", tar_entry("././@LongLink", name + '\0', 'L') +
                                                 tar_entry("b", "two") + next + kTarEnd)),
            (Files{{name, "two"}, {"c", "three"}}));
  EXPECT_EQ(files_of(
                folder.write("pax.tar", tar_entry("h", "14 comment=xy\n", 'g') +
                                            tar_entry("x", "12 mtime=12\n15 path=d/long\n", 'x') +
                                            tar_entry("b", "two") + next + kTarEnd)),
            (Files{{"d/long", "two"}, {"c", "three"}}));
}

TEST(Tar, UnpacksAFolderWholeOrNotAtAll) {
  const TemporaryFolder folder;
  unpack_tar(folder.write("a.tar", two_files() + kTarEnd), folder / "out");
  EXPECT_EQ(std::filesystem::file_size(folder / "out/a/2.txt"), kLong.size());
  const auto cut = folder.write("b.tar", two_files().substr(0, 40000));
  EXPECT_EQ(error_of([&] { unpack_tar(cut, folder / "new"); }),
            "the archive " + quoted(cut) + " is cut short");
  EXPECT_FALSE(std::filesystem::exists(folder / "new"));
}

TEST(Tar, BadArchivesAreRefused) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& content) {
    const auto path = folder.write("bad.tar", content);
    const std::string message = error_of([&] { files_of(path); });
    const std::size_t at = message.find(quoted(path));
    return message.substr(at + quoted(path).size());
  };
  EXPECT_EQ(refused(std::string(600, 'z')), " is not a tar archive, or is damaged");
  std::string damaged = two_files();
  damaged[512 + 100] = '7';  // in the header of the first file
  EXPECT_EQ(refused(damaged), " is not a tar archive, or is damaged");
  EXPECT_EQ(refused(tar_entry("a", "one") + std::string(600, 'z')),
            " is not a tar archive, or is damaged after 'a'");
  EXPECT_EQ(refused(kTarEnd), " holds no files");
  EXPECT_EQ(refused(""), " holds no files");
  for (const char* path : {"../a", "a/../../b", "/etc/a", "a/", ".."}) {
    EXPECT_EQ(refused(tar_entry(path, "x") + kTarEnd),
              std::string(" holds the path '") + path +
                  "'; expected one inside the archive's folder");
  }
  EXPECT_EQ(refused(tar_entry("link", "", '2') + kTarEnd),
            " holds 'link', a link or a device; expected files and folders");
  EXPECT_EQ(refused(tar_header("huge", std::size_t{2} << 30)),
            " holds 'huge', which is larger than 1073741824 bytes");
}

}  // namespace
}  // namespace linnet::test
