// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstdint>
#include <string>
#include <vector>

namespace linnet {

/// Says which shares of all samples are split off.
struct TaskShares {
  double validation = 0.1;
  double test = 0.2;
  bool stratify = true;
  std::uint64_t seed = 0;
};

/// Returns the parts of a training that chooses its own split: a test set, then a validation set,
/// are split off the training set where `data` has none. Throws Error for shares out of range.
Splits split_for_task(Splits data, const TaskShares& shares);

/// Adds task_note(), and a warning where a set that has a share is empty.
void add_task_notes(std::vector<std::string>& notes, const Splits& data, const TaskShares& shares,
                    const std::string& what, const std::string& samples);

/// "learns one of 3 classes; 241 samples train, 34 validate, 69 test"
std::string task_note(const Splits& data, const std::string& what, const std::string& samples);

}  // namespace linnet
