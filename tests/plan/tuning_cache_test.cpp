// SPDX-License-Identifier: Apache-2.0
#include "runtime/tuning_cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

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
  EXPECT_FALSE(std::filesystem::exists(file_));
  first.flush();
  EXPECT_EQ(TuningCache(file_).get("product"), "algorithm 3");
  EXPECT_EQ(read_file(file_), "{\n \"product\": \"algorithm 3\"\n}\n");
}

TEST_F(TuningCacheTest, KeepsWhatOthersWroteMeanwhile) {
  TuningCache mine(file_);
  TuningCache other(file_);
  mine.put("a", "1");
  other.put("b", "2");
  other.put("a", "3");
  other.flush();
  mine.flush();
  const TuningCache both(file_);
  EXPECT_EQ(both.get("a"), "1");
  EXPECT_EQ(both.get("b"), "2");
}

TEST_F(TuningCacheTest, WritesOnlyWhatIsNew) {
  TuningCache cache(file_);
  cache.flush();
  EXPECT_FALSE(std::filesystem::exists(file_));
  cache.put("a", "1");
  cache.flush();
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
    cache.flush();
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
  cache.put("a", "1");
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
