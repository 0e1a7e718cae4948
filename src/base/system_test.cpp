// SPDX-License-Identifier: Apache-2.0
// What base/ asks the system, by the same words on each.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/console.h"
#include "base/file_calls.h"
#include "base/files.h"
#include "base/folder.h"
#include "base/process.h"
#include "base/staged_folder.h"
#include "temporary_folder.h"

namespace linnet {
namespace {

using testing::TemporaryFolder;

TEST(System, NamesOfFilesAreUtf8) {
  const TemporaryFolder folder;
  for (const std::string name : {"a b", "Müller ß", "數據", "😀.csv"}) {
    write_file_atomically(folder / name, name);
    EXPECT_EQ(read_file(folder / name), name);
    EXPECT_EQ((folder / name).filename().string(), name);
  }
  EXPECT_EQ(list_folder(folder.path()).files.size(), 4U);
}

TEST(System, AFileHasOneLock) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "lock", "words");
  const int first = calls::open(folder / "lock", O_RDWR);
  const int second = calls::open(folder / "lock", O_RDWR);
  ASSERT_EQ(calls::lock(first), 0) << std::strerror(errno);
  EXPECT_EQ(calls::lock(second), -1);
  EXPECT_EQ(errno, EWOULDBLOCK);
  std::string words(5, ' ');
  EXPECT_EQ(calls::read_at(second, words.data(), 4, 1),
            4);  // other descriptors read in spite of a lock
  EXPECT_EQ(words, "ords ");
  calls::close(first);
  EXPECT_EQ(calls::lock(second), 0) << std::strerror(errno);
  EXPECT_TRUE(calls::is_named(second, folder / "lock"));
  EXPECT_EQ(calls::remove(folder / "lock"), 0);
  EXPECT_FALSE(calls::is_named(second, folder / "lock"));
  calls::close(second);
}

TEST(System, AnOpenFileIsReplaced) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "file", "old");
  InputFile reader(folder / "file");
  write_file_atomically(folder / "file", "new and longer");
  std::string old(3, ' ');
  EXPECT_EQ(reader.read(old), 3U);
  EXPECT_EQ(old, "old");
  EXPECT_EQ(read_file(folder / "file"), "new and longer");
}

TEST(System, AFolderTakesThePlaceOfAnEmptyOne) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "new");
  StagedFolder staged(folder / "new");
  staged.write("a", "b\n");
  staged.commit();
  EXPECT_EQ(read_file(folder / "new/a"), "b\n");
}

TEST(System, KnowsProcesses) {
  EXPECT_TRUE(process_lives(process_id()));
  EXPECT_FALSE(process_lives(0x7FFFFFF0));
  EXPECT_GT(process_begin(process_id()), 1.7e9);  // 2023
  EXPECT_EQ(process_begin(0x7FFFFFF0), 0);
  EXPECT_GT(machine_bytes(), std::uint64_t{1} << 28);
  EXPECT_GT(free_bytes(), 0U);
  EXPECT_FALSE(host_name().empty());
}

TEST(System, PagesAreZero) {
  constexpr std::size_t kBytes = std::size_t{3} << 20;
  auto* pages = static_cast<char*>(map_pages(kBytes));
  ASSERT_NE(pages, nullptr);
  prefer_huge_pages(pages, kBytes);
  EXPECT_EQ(pages[0], 0);
  EXPECT_EQ(pages[kBytes - 1], 0);
  pages[kBytes - 1] = 1;
  unmap_pages(pages, kBytes);
  EXPECT_EQ(map_pages(std::size_t{1} << 62), nullptr);
}

TEST(System, ReadsTheEnvironment) {
  EXPECT_NE(environment("PATH"), nullptr);
  EXPECT_EQ(environment("LINNET_NOBODY_SETS_THIS"), nullptr);
}

}  // namespace
}  // namespace linnet
