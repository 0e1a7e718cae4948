// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace linnet {

inline constexpr double kValidationShare = 0.1;
inline constexpr double kTestShare = 0.2;

/// Says which shares of all samples are split off.
struct TaskShares {
  std::optional<double> validation = {};  ///< unset: kValidationShare
  std::optional<double> test = {};        ///< unset: kTestShare
  bool stratify = true;
  std::uint64_t seed = 0;
};

/// Returns the parts of a training that chooses its own split: a test set, then a validation set,
/// are split off the training set where `data` has none. Throws Error for shares out of range, and
/// for one of a set that there is.
Splits split_for_task(Splits data, const TaskShares& shares);

/// Throws Error for a share of a set that the data `name` have already.
void check_shares(const TaskShares& shares, bool has_validation, bool has_test,
                  const std::string& name);

/// Adds task_note(), and a warning where a set that has a share is empty.
void add_task_notes(std::vector<std::string>& notes, const Splits& data, const TaskShares& shares,
                    const std::string& what, const std::string& samples);

/// Warns of classes such as "yes" and "Yes".
void warn_of_case(const std::vector<std::string>& classes, std::vector<std::string>& notes);

/// "learns one of 3 classes; 241 samples train, 34 validate, 69 test"
std::string task_note(const Splits& data, const std::string& what, const std::string& samples);

}  // namespace linnet
