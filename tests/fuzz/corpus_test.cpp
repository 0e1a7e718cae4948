// SPDX-License-Identifier: Apache-2.0
// Inputs that fuzzing has found, and those that it begins with, in an ordinary build.
#include <gtest/gtest.h>
#include <linnet/model.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/folder.h"
#include "config/config.h"
#include "config/search_space.h"
#include "fuzz/fuzz_input.h"
#include "fuzz/seeds.h"
#include "fuzz/targets.h"

namespace linnet::fuzz {
namespace {

namespace fs = std::filesystem;

void run(const Target& target, const std::string& bytes) {
  EXPECT_EQ(target.run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0);
}

void replay(const Target& target, const fs::path& folder) {
  for (const fs::path& path : list_folder(folder).files) {
    SCOPED_TRACE(path.string());
    run(target, read_file(path));
  }
}

/// One to four changes: a byte, a run of one byte put in, or a part left out or repeated.
std::string changed(std::string bytes, std::minstd_rand& random) {
  const auto below = [&](std::size_t count) { return random() / 7 % count; };
  for (std::size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
    const std::size_t at = below(bytes.size());
    const std::size_t length = 1 + below(std::min<std::size_t>(bytes.size() - at, 32));
    constexpr std::string_view kValues("\0\x01\x7F\x80\xFF", 5);
    const bool usual = below(2) == 0;
    const char value = usual ? kValues[below(kValues.size())] : static_cast<char>(below(256));
    switch (below(4)) {
      case 0: bytes[at] = value; break;
      case 1: bytes.insert(at, length, value); break;
      case 2: bytes.erase(at, length); break;
      default: bytes.insert(at, bytes.substr(at, length)); break;
    }
  }
  return bytes;
}

class FuzzTarget : public testing::TestWithParam<Target> {};

TEST_P(FuzzTarget, TakesWhatFuzzingFound) {
  const fs::path folder = fs::path(LINNET_FUZZ_CORPUS) / GetParam().name;
  if (fs::exists(folder)) replay(GetParam(), folder);
  run(GetParam(), "");
}

TEST_P(FuzzTarget, TakesItsSeeds) {
  const fs::path seeds = folder() / "seeds";
  write_seeds(seeds);
  ASSERT_FALSE(list_folder(seeds / GetParam().name).files.empty());
  replay(GetParam(), seeds / GetParam().name);
}

// The same changes in every run: what fails here is the fault of the tree that is tested.
TEST_P(FuzzTarget, TakesItsSeedsChanged) {
  constexpr int kInputs = 500;
  const fs::path seeds = folder() / "seeds";
  write_seeds(seeds);
  const std::vector<fs::path> files = list_folder(seeds / GetParam().name).files;
  std::minstd_rand random(1);
  for (int i = 0; i < kInputs; ++i) {
    const fs::path& path = files[static_cast<std::size_t>(i) % files.size()];
    SCOPED_TRACE(path.string() + ", change " + std::to_string(i));
    run(GetParam(), changed(read_file(path), random));
  }
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
