// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "config/config.h"
#include "config/search_space.h"
#include "fuzz/fuzz_input.h"

// The file of `linnet search`: what is searched, and the configurations that are made of it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linnet;
  using namespace linnet::command;
  SearchPlan plan;
  const std::string text(fuzz::text_of(data, size));
  if (!fuzz::accepts([&] { plan = read_search(text, "search.toml"); })) return 0;
  const auto is_read = [&](const std::vector<SearchValue>& values) {
    fuzz::expect(values.size() == plan.values.size(), "each searched value has one");
    const std::string written = configuration_with(plan, values, 3, {"x"});
    fuzz::accepts([&] { parse_config(written, "search.toml"); });
  };
  for (std::int64_t run = 0; run < 2; ++run) is_read(random_values(plan, run, run));
  if (plan.method == SearchMethod::grow) {
    const std::vector<std::vector<SearchValue>> grown = growing_values(plan);
    fuzz::expect(!grown.empty() && grown.size() < 64, "values grow by doubling");
    is_read(grown.back());
  }
  if (plan.method == SearchMethod::grid) {
    fuzz::accepts([&] { fuzz::expect(!grid_values(plan).empty(), "a grid has runs"); });
  }
  return 0;
}
