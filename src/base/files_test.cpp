// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "message_of.h"
#include "temporary_folder.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;
using testing::message_of;
using testing::TemporaryFolder;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

TEST(Files, ReadsWhatWasWritten) {
  const TemporaryFolder folder;
  std::string content(3'000'001, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 31 % 251);
  for (const std::size_t size : {0, 1, 4096, 1 << 20, 3'000'001}) {
    write_file_atomically(folder / "file", content.substr(0, size));
    EXPECT_TRUE(read_file(folder / "file") == content.substr(0, size)) << size << " bytes";
  }
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"file"});
}

TEST(Files, JoinsPieces) {
  const TemporaryFolder folder;
  const std::array<std::string_view, 4> pieces{"ab", "", "c", std::string_view("\0d", 2)};
  write_file_atomically(folder / "file", pieces);
  EXPECT_EQ(read_file(folder / "file"), std::string("abc\0d", 5));
}

TEST(Files, NamesTheFileAndTheReason) {
  const TemporaryFolder folder;
  const std::string missing = (folder / "missing").string();
  EXPECT_EQ(message_of([&] { read_file(missing); }),
            "cannot read '" + missing + "': No such file or directory");
  EXPECT_EQ(message_of([&] { read_file(folder.path()); }),
            "cannot read '" + folder.path().string() + "': Is a directory");
  EXPECT_EQ(message_of([&] { write_file_atomically(missing + "/file", "x"); }),
            "cannot write '" + missing + "/file': No such file or directory");
  EXPECT_EQ(message_of([&] { write_file_atomically(folder.path(), "x"); }),
            "cannot write '" + folder.path().string() + "': Is a directory");
  EXPECT_EQ(message_of([] { write_file_atomically("", "x"); }),
            "cannot write '': No such file or directory");
}

TEST(Files, ReadsInPieces) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "file", "abcde");
  InputFile file(folder / "file");
  EXPECT_EQ(file.bytes(), 5U);
  std::array<char, 3> piece{};
  EXPECT_EQ(file.read(piece), 3U);
  EXPECT_EQ(std::string_view(piece.data(), 3), "abc");
  EXPECT_EQ(file.read(piece), 2U);
  EXPECT_EQ(std::string_view(piece.data(), 2), "de");
  EXPECT_EQ(file.read(piece), 0U);
}

TEST(Files, ReadsNoMoreTextThanIsAllowed) {
  const TemporaryFolder folder;
  const std::string path = (folder / "file").string();
  write_file_atomically(path, "abc");
  EXPECT_EQ(read_text(path, 3), "abc");
  EXPECT_EQ(message_of([&] { read_text(path, 2); }),
            "cannot read '" + path + "': it has more than 2 bytes");
}

TEST(Files, SaysThatAFileIsLargerThanTheMachine) {
  const TemporaryFolder folder;
  const std::string path = (folder / "file").string();
  write_file_atomically(path, "");
  std::filesystem::resize_file(path, std::uintmax_t{1} << 42);  // takes no place on the disk
  EXPECT_EQ(message_of([&] { read_file(path); }),
            "cannot read '" + path + "': its 4398046511104 bytes do not fit into memory");
}

TEST(Files, SurvivesWritersAtTheSameTime) {
  const TemporaryFolder folder;
  std::vector<std::thread> writers;
  for (char c : {'a', 'b', 'c', 'd'}) {
    writers.emplace_back([&, c] {
      for (int i = 0; i < 20; ++i) write_file_atomically(folder / "file", std::string(5000, c));
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string content = read_file(folder / "file");
  EXPECT_EQ(content, std::string(5000, content.at(0)));
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"file"});
}

TEST(AppendFile, AppendsLinesThatAreSeenAtOnce) {
  const TemporaryFolder folder;
  AppendFile file(folder / "log");
  file.append_line("one");
  EXPECT_EQ(read_file(folder / "log"), "one\n");
  AppendFile moved = std::move(file);
  moved.append_line("");
  AppendFile(folder / "log").append_line("three");
  EXPECT_EQ(read_file(folder / "log"), "one\n\nthree\n");
  EXPECT_EQ(message_of([&] { AppendFile(folder / "no/log"); }),
            "cannot write '" + (folder / "no/log").string() + "': No such file or directory");
}

}  // namespace
}  // namespace linnet
