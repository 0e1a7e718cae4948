// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <array>
#include <csignal>
#include <fstream>
#include <iterator>
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

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 0777U;
}

/// While it lives, this process can't write beyond byte `limit` of a file: a full disk on demand.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t limit) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &old_), 0);
    const rlimit limits{limit, old_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limits), 0);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit old_{};
  void (*handler_)(int);
};

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

TEST(Files, ReadsWhatHasNoSize) {
  EXPECT_FALSE(read_file("/proc/self/maps").empty());  // stat says 0 bytes
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
  EXPECT_EQ(message_of([] { write_file_atomically("/dev/full", "x"); }),
            "cannot write '/dev/full': No space left on device");
}

TEST(Files, OpensRegularFilesAlone) {
  const TemporaryFolder folder;
  const std::string pipe = (folder / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);  // nobody writes: opening it would wait for ever
  const std::string link = (folder / "link").string();
  std::filesystem::create_symlink(pipe, link);
  const std::string dangling = (folder / "dangling").string();
  std::filesystem::create_symlink("nothing", dangling);
  const std::string is_a_pipe = "it is a pipe (FIFO), not a regular file";
  for (const auto& [path, reason] : std::vector<std::pair<std::string, std::string>>{
           {pipe, is_a_pipe},
           {link, is_a_pipe},
           {"/dev/zero", "it is a device, not a regular file"},
           {"/dev/null", "it is a device, not a regular file"},
           {dangling, "it is a link to 'nothing', which does not exist"}}) {
    const std::string expected = "cannot read '" + path + "': " + reason;
    EXPECT_EQ(message_of([&] { read_file(path); }), expected);
    EXPECT_EQ(message_of([&] { read_text(path, 10); }), expected);
    EXPECT_EQ(message_of([&] { InputFile{path}; }), expected);
  }
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

TEST(Files, KeepsTheOldFileWhereTheNewOneDoesNotFit) {
  const TemporaryFolder folder;
  const std::string path = (folder / "file").string();
  write_file_atomically(path, "old");
  const std::string big(10'000, 'x');
  {
    const FileSizeLimit limit(4096);
    EXPECT_EQ(message_of([&] { write_file_atomically(path, big); }),
              "cannot write '" + path + "': File too large");
  }
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"file"});
}

TEST(Files, ReplacesRatherThanOverwrites) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "file", "old");
  std::ifstream reader(folder / "file");
  write_file_atomically(folder / "file", "new and longer");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "old");
  EXPECT_EQ(read_file(folder / "file"), "new and longer");
}

TEST(Files, FollowsALinkAndKeepsPermissions) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "file", "old");
  fs::permissions(folder / "file", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("file", folder / "link");
  write_file_atomically(folder / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder / "file"), "new");
  EXPECT_EQ(mode_of(folder / "file"), 0600U);
}

TEST(Files, GivesANewFileWhatTheProcessGives) {
  const TemporaryFolder folder;
  const mode_t mask = ::umask(027);
  write_file_atomically(folder / "file", "x");
  ::umask(mask);
  EXPECT_EQ(mode_of(folder / "file"), 0640U);
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
}

TEST(AppendFile, TakesBackALineThatDoesNotFit) {
  const TemporaryFolder folder;
  const std::string path = (folder / "log").string();
  AppendFile file(path);
  file.append_line("whole");
  {
    const FileSizeLimit limit(100);
    EXPECT_EQ(message_of([&] { file.append_line(std::string(500, 'x')); }),
              "cannot write '" + path + "': File too large");
  }
  EXPECT_EQ(read_file(path), "whole\n");
  EXPECT_EQ(message_of([&] { AppendFile(folder / "no/log"); }),
            "cannot write '" + (folder / "no/log").string() + "': No such file or directory");
}

}  // namespace
}  // namespace linnet
