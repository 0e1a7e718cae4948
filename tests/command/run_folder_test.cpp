// SPDX-License-Identifier: Apache-2.0
#include "run_folder.h"

#include <gtest/gtest.h>
#include <linnet/error.h>
#include <unistd.h>

#include <fstream>

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

/// A new empty folder, removed at the end.
class RunFolderTest : public testing::Test {
 protected:
  RunFolderTest() {
    std::string name = testing::TempDir() + "linnet-run-XXXXXX";
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

TEST_F(RunFolderTest, HistoryGrowsByLines) {
  {
    RunFolder folder(root_ / "run", "x");
    folder.append_history({{"epoch", 1}});
    folder.append_history({{"epoch", 2}});
  }
  std::ifstream in(root_ / "run" / "history.jsonl");
  std::string first;
  std::string second;
  std::getline(in, first);
  std::getline(in, second);
  EXPECT_EQ(first, "{\"epoch\":1}");
  EXPECT_EQ(second, "{\"epoch\":2}");
}

TEST_F(RunFolderTest, RefusesAFolderThatHoldsARun) {
  std::ofstream(root_ / "summary.json") << "{}";
  try {
    const RunFolder folder(root_, "x");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), "the folder '" + root_.string() +
                                "' holds a run already (summary.json); name another with --out");
  }
  EXPECT_TRUE(fs::exists(root_ / "summary.json"));
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
