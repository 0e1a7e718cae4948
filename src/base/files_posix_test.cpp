// SPDX-License-Identifier: Apache-2.0
// What files.h says about pipes, devices, links, permissions and limits, which Windows has not.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "message_of.h"
#include "temporary_folder.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;
using testing::message_of;
using testing::TemporaryFolder;

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

TEST(Files, ReadsWhatHasNoSize) {
  EXPECT_FALSE(read_file("/proc/self/maps").empty());  // stat says 0 bytes
}

TEST(Files, SaysThatADeviceIsFull) {
  EXPECT_EQ(message_of([] { write_file_atomically("/dev/full", "x"); }),
            "cannot write '/dev/full': No space left on device");
}

TEST(Files, OpensRegularFilesAlone) {
  const TemporaryFolder folder;
  const std::string pipe = (folder / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600),
            0);  // no process writes to it: opening it would wait for ever
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
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
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
}

}  // namespace
}  // namespace linnet
