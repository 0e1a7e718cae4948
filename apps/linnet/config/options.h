// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "describe/flags.h"

namespace linnet::command {

/// The largest seed: TOML and JSON hold it.
inline constexpr long long kLargestSeed = std::numeric_limits<long long>::max();

/// Puts the options that are added while it lives into a group of the help page.
class OptionGroup {
 public:
  OptionGroup(CLI::App& command, const std::string& name)
      : defaults_(command.option_defaults()), before_(defaults_->get_group()) {
    defaults_->group(name);
  }
  ~OptionGroup() { defaults_->group(before_); }
  OptionGroup(const OptionGroup&) = delete;
  OptionGroup& operator=(const OptionGroup&) = delete;

 private:
  CLI::OptionDefaults* defaults_;
  std::string before_;
};

/// The group of options that stands first on a help page.
inline constexpr const char* kMostUsed = "Most used options";
/// Puts options that the command has into it.
void set_most_used(CLI::App& command, std::initializer_list<const char*> names);

/// Accepts one of `names`; the error names them all, and the nearest one if one is near.
CLI::Validator one_of(std::vector<std::string> names);
/// Returns the names that an option accepts by one_of(); none for any other option.
std::vector<std::string> choices_of(const CLI::Option& option);
/// Returns whether an option names columns of a table: its description begins with "Column".
bool takes_column(const CLI::Option& option);
/// Returns where a name that one_of() has accepted stands in them.
std::size_t index_of(const std::vector<std::string>& names, const std::string& name);
/// Accepts integers of at least `least`, and at most `most`: sums and products of a few don't
/// overflow.
CLI::Validator at_least(long long least, long long most = std::numeric_limits<std::int32_t>::max());
/// Accepts numbers of bytes of at least `least`, also with a unit, e.g. 512MiB, and turns them into
/// plain ones.
CLI::Validator byte_count(std::uint64_t least);
/// Adds --within, a time that seconds_of() reads. `does`: what the command does with it.
CLI::Option& add_within_option(CLI::App& command, std::string& within, const std::string& does);
/// Adds --threads, to an int or an optional one.
template <class Threads>
void add_threads_option(CLI::App& command, Threads& threads) {
  const OptionGroup group(command, "Device");
  command.add_option("--threads", threads, "Number of processors to use; 0: all")
      ->check(at_least(0));
}
/// Adds the flags of described options that the command lacks, and --no-NAME beside each that is on
/// or off. What is given becomes an entry of the table `given`, by the fields' keys, which
/// Description::read() reads.
void add_flags(CLI::App& command, const Description& options, Setting& given);
/// Returns the value of a key of such a table, or null.
const Setting* given_value(const Setting& given, std::string_view key);
/// Adds --disable-pass, which may be given several times.
void add_disabled_passes(CLI::App& command, std::vector<std::string>& passes);

}  // namespace linnet::command
