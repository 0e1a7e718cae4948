// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace linnet::command {

/// A value that a configuration can hold.
using SearchValue = std::variant<std::int64_t, double, bool, std::string>;
/// As a configuration would have it, strings without quotes.
std::string text_of(const SearchValue& value);

/// A value of the configuration that is searched: { search = [16, 32] } or
/// { search = { from = 1e-4, to = 1e-2, log = true } }.
struct SearchedValue {
  std::string path = {};                  ///< "training.batch", "network.layers[1].units"
  std::vector<SearchValue> choices = {};  ///< empty: a range
  double from = 0;
  double to = 0;
  bool log = false;
  bool integer = false;  ///< both ends are

  bool operator==(const SearchedValue&) const = default;
  /// The value at a place in [0, 1] of the range, or of the choices.
  SearchValue at(double place) const;
};

enum class SearchMethod : std::uint8_t { random, grid, halving, grow, select, forward, genetic };
/// Returns the name of a method that [search] gives.
const std::string& name_of(SearchMethod method);
/// Returns whether a method chooses columns of a table.
bool chooses_columns(SearchMethod method);

/// What [search] says, and the configuration without it.
struct SearchPlan {
  SearchMethod method = SearchMethod::random;
  std::int64_t runs = 20;   ///< of random, halving and genetic; of the others at most
  std::int64_t points = 5;  ///< of a range in a grid
  std::int64_t factor = 3;  ///< of halving: one of so many goes on
  std::uint64_t seed = 0;
  std::string metric = "validation_loss";
  std::vector<SearchedValue> values = {};
  toml::table configuration = {};

  bool is_loss() const { return metric.ends_with("loss"); }
  bool operator==(const SearchPlan&) const = default;
};

inline constexpr std::int64_t kMostRuns = 100'000;  ///< of a search

/// Reads the file of `linnet search`. Throws Error "file:line:column: ..." for what is wrong with
/// [search] and with what is searched; the rest is read by parse_config() when it is trained.
SearchPlan read_search(const std::string& text, const std::filesystem::path& path);

/// Returns the text of the same file with another number of runs.
std::string search_text(const std::string& text, const std::filesystem::path& path,
                        std::int64_t runs);

/// The values of run `number` (from 0) of a random search: a function of the seed. `attempt`: after
/// so many that were there already.
std::vector<SearchValue> random_values(const SearchPlan& plan, std::int64_t number,
                                       std::int64_t attempt);
/// All combinations; the last value changes first. Throws Error for more than 10,000.
std::vector<std::vector<SearchValue>> grid_values(const SearchPlan& plan);
/// `from`, twice as much, and so on up to `to`, of all values together.
std::vector<std::vector<SearchValue>> growing_values(const SearchPlan& plan);

/// The text of the configuration with these values; `epochs` above 0 replaces the number of epochs,
/// and the table's columns `left_out` are ignored too.
std::string configuration_with(const SearchPlan& plan, const std::vector<SearchValue>& values,
                               std::int64_t epochs, const std::vector<std::string>& left_out = {});

}  // namespace linnet::command
