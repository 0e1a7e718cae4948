// SPDX-License-Identifier: Apache-2.0
// Inputs that fuzzing has found, and those that it begins with, in an ordinary build.
#include <gtest/gtest.h>
#include <linnet/model.h>

#include <string>
#include <vector>

#include "base/files.h"
#include "config/config.h"
#include "config/search_space.h"
#include "data/folder.h"
#include "fuzz/fuzz_input.h"
#include "fuzz/seeds.h"
#include "fuzz/targets.h"

namespace linnet::fuzz {
namespace {

namespace fs = std::filesystem;

void replay(const Target& target, const fs::path& folder) {
  for (const fs::path& path : list_folder(folder).files) {
    SCOPED_TRACE(path.string());
    const std::string bytes = read_file(path);
    EXPECT_EQ(target.run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0);
  }
}

class FuzzTarget : public testing::TestWithParam<Target> {};

TEST_P(FuzzTarget, TakesWhatFuzzingFound) {
  const fs::path folder = fs::path(LINNET_FUZZ_CORPUS) / GetParam().name;
  if (fs::exists(folder)) replay(GetParam(), folder);
  const std::string nothing;
  EXPECT_EQ(GetParam().run(reinterpret_cast<const std::uint8_t*>(nothing.data()), 0), 0);
}

TEST_P(FuzzTarget, TakesItsSeeds) {
  const fs::path seeds = folder() / "seeds";
  write_seeds(seeds);
  ASSERT_FALSE(list_folder(seeds / GetParam().name).files.empty());
  replay(GetParam(), seeds / GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(All, FuzzTarget, testing::ValuesIn(targets()),
                         [](const auto& info) { return info.param.name; });

// A seed that is refused teaches a fuzzer little.
TEST(FuzzSeeds, OfModelsAndConfigurationsAreAccepted) {
  const fs::path seeds = folder() / "seeds";
  write_seeds(seeds);
  for (const fs::path& path : list_folder(seeds / "model").files) {
    EXPECT_NO_THROW(Model::load(path, {.device = "cpu", .threads = 1})) << path;
  }
  for (const fs::path& path : list_folder(seeds / "toml").files) {
    EXPECT_NO_THROW(command::read_config(path)) << path;
  }
  for (const fs::path& path : list_folder(seeds / "search").files) {
    EXPECT_NO_THROW(command::read_search(read_file(path), path)) << path;
  }
}

// Every folder of the corpus is replayed: one of a wrong name would not be.
TEST(FuzzCorpus, HoldsFoldersOfTargetsAlone) {
  if (!fs::exists(LINNET_FUZZ_CORPUS)) return;  // nothing was found yet
  for (const fs::path& path : list_folder(LINNET_FUZZ_CORPUS).folders) {
    const bool known = std::any_of(targets().begin(), targets().end(), [&](const Target& target) {
      return target.name == path.filename();
    });
    EXPECT_TRUE(known) << path;
  }
}

}  // namespace
}  // namespace linnet::fuzz
