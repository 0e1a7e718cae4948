// SPDX-License-Identifier: Apache-2.0
#include "report/run_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/error.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "../message_of.h"

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

/// A new empty folder, removed at the end.
class RunFolderTest : public ::testing::Test {
 protected:
  RunFolderTest() {
    std::string name = ::testing::TempDir() + "linnet-run-XXXXXX";
    root_ = mkdtemp(name.data());
  }
  ~RunFolderTest() override { fs::remove_all(root_); }

  fs::path root_;
};

TEST_F(RunFolderTest, IsRemovedAgainIfNothingWasWritten) {
  {
    const RunFolder folder(root_ / "a" / "b", "x");
    EXPECT_TRUE(fs::is_directory(root_ / "a" / "b"));
  }
  EXPECT_FALSE(fs::exists(root_ / "a" / "b"));
}

TEST_F(RunFolderTest, StaysIfItWasThereBefore) {
  { const RunFolder folder(root_, "x"); }
  EXPECT_TRUE(fs::is_directory(root_));
}

TEST_F(RunFolderTest, RefusesAFolderThatHoldsARun) {
  for (const char* name : {"model.safetensors", "history.jsonl", "summary.json", "metrics.json",
                           "report.html", "vocabulary.txt"}) {
    const fs::path folder = root_ / name;
    fs::create_directory(folder);
    std::ofstream(folder / name) << "{}";
    std::ofstream(folder / ".linnet-999999999-0.tmp") << "of somebody else";
    EXPECT_EQ(testing::message_of([&] { const RunFolder run(folder, "x"); }),
              "the folder '" + folder.string() + "' already has a run (" + name +
                  "); name another folder with --out");
    EXPECT_TRUE(fs::exists(folder / name));
    EXPECT_TRUE(fs::exists(folder / ".linnet-999999999-0.tmp"));
    EXPECT_FALSE(fs::exists(folder / ".linnet-lock"));
  }
}

TEST_F(RunFolderTest, ClaimsTheFolderAsLongAsItLives) {
  const fs::path path = root_ / "run";
  {
    const RunFolder folder(path, "x");
    EXPECT_EQ(testing::message_of([&] { const RunFolder other(path, "x"); }),
              fmt::format("the folder '{}' is in use by process {}: another training writes to it; "
                          "name another folder with --out",
                          path.string(), getpid()));
    EXPECT_EQ(folder.removable(),
              (std::vector<fs::path>{path / ".linnet-lock", path / "run.json", path}));
  }
  EXPECT_FALSE(fs::exists(path));
  const RunFolder again(path, "x");
}

TEST_F(RunFolderTest, AClaimEndsWithItsProcessWhoeverHasItsIdNow) {
  std::ofstream(root_ / ".linnet-lock") << "1\n";  // lives, but holds no lock
  std::ofstream(root_ / ".linnet-999999999-0.tmp") << "of a process that is gone";
  const fs::path reused = root_ / fmt::format(".linnet-{}-7.tmp", getpid());
  std::ofstream(reused) << "of one whose id is now ours";
  fs::last_write_time(reused, fs::file_time_type::clock::now() - std::chrono::hours(48));
  const fs::path own = root_ / fmt::format(".linnet-{}-8.tmp", getpid());
  std::ofstream(own) << "of ours";
  std::ofstream(root_ / ".linnet-999999999-x.log") << "no temporary file";
  fs::create_directory(root_ / ".linnet-999999999-1.tmp");
  {
    const RunFolder folder(root_, "x");
    std::ifstream lock(root_ / ".linnet-lock");
    int process = 0;
    lock >> process;
    EXPECT_EQ(process, getpid());
    EXPECT_FALSE(fs::exists(root_ / ".linnet-999999999-0.tmp"));
    EXPECT_FALSE(fs::exists(reused));
    EXPECT_TRUE(fs::exists(own));
    EXPECT_TRUE(fs::exists(root_ / ".linnet-999999999-x.log"));
    EXPECT_TRUE(fs::exists(root_ / ".linnet-999999999-1.tmp"));
  }
  EXPECT_FALSE(fs::exists(root_ / ".linnet-lock"));
}

TEST_F(RunFolderTest, ARecordOfTheStartAloneIsNoRun) {
  {
    const RunFolder folder(root_ / "run", "x");
    std::ofstream(folder.start()) << "{}";
  }
  EXPECT_FALSE(fs::exists(root_ / "run"));
  fs::create_directory(root_ / "run");
  std::ofstream(root_ / "run" / "run.json") << "{}";  // of a training that was killed
  { const RunFolder folder(root_ / "run", "x"); }
  EXPECT_TRUE(fs::is_empty(root_ / "run"));
}

TEST_F(RunFolderTest, ContinuesARun) {
  const fs::path path = root_ / "run";
  EXPECT_EQ(testing::message_of([&] { const RunFolder folder(path); }),
            "there is no folder '" + path.string() + "' whose run could continue");
  {
    RunFolder folder(path, "x");
    std::ofstream(folder.start()) << "{}";
    std::ofstream(folder.history()) << "{}";
    std::ofstream(folder.progress()) << "{}";
  }
  EXPECT_FALSE(fs::exists(path / "progress.json")) << "the training is over";
  {
    const RunFolder folder(path);
    EXPECT_EQ(folder.removable(), (std::vector<fs::path>{path / ".linnet-lock"}));
  }
  EXPECT_TRUE(fs::exists(path / "history.jsonl"));
  fs::remove(path / "history.jsonl");
  { const RunFolder folder(path); }
  EXPECT_TRUE(fs::exists(path / "run.json")) << "it can be continued again";
}

TEST_F(RunFolderTest, SaysWhyItCannotBeWritten) {
  const fs::path sealed("/sys/kernel");  // where the superuser cannot make files either
  const std::string message = testing::message_of([&] { const RunFolder folder(sealed, "x"); });
  EXPECT_EQ(message.find("cannot write into the folder '/sys/kernel': "), 0U) << message;
}

TEST_F(RunFolderTest, SaysWhyItCannotBeMade) {
  std::ofstream(root_ / "file") << "x";
  try {
    const RunFolder folder(root_ / "file" / "run", "x");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), "cannot make the folder '" + (root_ / "file" / "run").string() +
                                "': Not a directory");
  }
}

}  // namespace
}  // namespace linnet::command
