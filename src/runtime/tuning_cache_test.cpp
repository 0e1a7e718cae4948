// SPDX-License-Identifier: Apache-2.0
#include "runtime/tuning_cache.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include <linnet/error.h>
#include "base/files.h"

namespace linnet {
namespace {

class TuningCacheTest : public ::testing::Test {
 protected:
  TuningCacheTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("linnet_tuning_" + std::string(test->name()) + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
    file_ = folder_ / "choices.json";
  }
  ~TuningCacheTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
  std::filesystem::path file_;
};

TEST_F(TuningCacheTest, KeepsChoicesFromRunToRun) {
  TuningCache first(file_);
  EXPECT_FALSE(first.get("product").has_value());
  first.put("product", "algorithm 3");
  EXPECT_EQ(first.get("product"), "algorithm 3");
  EXPECT_EQ(TuningCache(file_).get("product"), "algorithm 3");
  EXPECT_EQ(read_file(file_), "{\n \"product\": \"algorithm 3\"\n}\n");
}

TEST_F(TuningCacheTest, KeepsWhatOthersWroteMeanwhile) {
  TuningCache mine(file_);
  TuningCache other(file_);
  mine.put("a", "1");
  other.put("b", "2");
  EXPECT_EQ(TuningCache(file_).get("a"), "1");
  other.put("a", "3");
  mine.put("c", "4");
  const TuningCache all(file_);
  EXPECT_EQ(all.get("a"), "3") << "the last one's";
  EXPECT_EQ(all.get("b"), "2");
  EXPECT_EQ(all.get("c"), "4");
}

TEST_F(TuningCacheTest, AKilledProgramLeavesAllThatItHadChosen) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    TuningCache cache(file_);
    for (const char* key : {"a", "b", "c"}) cache.put(key, "1");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  const TuningCache left(file_);
  for (const char* key : {"a", "b", "c"}) EXPECT_EQ(left.get(key), "1") << key;
}

TEST_F(TuningCacheTest, WritesOnlyWhatIsNew) {
  TuningCache cache(file_);
  cache.flush();
  EXPECT_FALSE(std::filesystem::exists(file_));
  cache.put("a", "1");
  std::filesystem::remove(file_);
  cache.flush();
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(TuningCacheTest, TakesADamagedFileAsEmpty) {
  std::filesystem::create_directories(folder_);
  for (const char* content : {"", "{\"a\": \"1\"", "[1, 2]", "\xFF\xFE", "7"}) {
    std::ofstream(file_) << content;
    TuningCache cache(file_);
    EXPECT_FALSE(cache.get("a").has_value()) << content;
    cache.put("a", "2");
    EXPECT_EQ(TuningCache(file_).get("a"), "2") << content;
  }
  std::ofstream(file_) << R"({"a": 1, "b": "good", "c": {"d": "e"}})";
  const TuningCache cache(file_);
  EXPECT_FALSE(cache.get("a").has_value());
  EXPECT_FALSE(cache.get("c").has_value());
  EXPECT_EQ(cache.get("b"), "good");
}

TEST_F(TuningCacheTest, SaysWhereItCannotWrite) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "plain") << "a file, no folder";
  TuningCache cache(folder_ / "plain" / "choices.json");
  EXPECT_NO_THROW(cache.put("a", "1"));
  EXPECT_THROW(cache.flush(), Error);
  EXPECT_EQ(cache.get("a"), "1");
}

TEST_F(TuningCacheTest, InMemoryAlone) {
  TuningCache cache;
  cache.put("a", "1");
  EXPECT_NO_THROW(cache.flush());
  EXPECT_EQ(cache.get("a"), "1");
  EXPECT_THROW(cache.put("a", "\xFF"), Error);
}

}  // namespace
}  // namespace linnet
