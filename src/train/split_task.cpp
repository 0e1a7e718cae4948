// SPDX-License-Identifier: Apache-2.0
#include "train/split_task.h"

#include <tuple>

#include "base/check.h"
#include "base/join.h"
#include "data/targets.h"

namespace linnet {

Splits split_for_task(Splits data, const TaskShares& shares) {
  require(shares.validation >= 0 && shares.test >= 0 && shares.validation + shares.test < 1,
          "validation and test are shares of the samples, together below 1; got {} and {}",
          shares.validation, shares.test);
  const bool stratify = shares.stratify && !labels_of(data.train).empty();
  // The second split is of what the first has left.
  double left = 1;
  if (data.test.size() == 0 && shares.test > 0) {
    std::tie(data.train, data.test) =
        data.train.split(shares.test, {.seed = shares.seed, .stratify = stratify});
    left -= shares.test;
  }
  if (data.validation.size() == 0 && shares.validation > 0) {
    std::tie(data.train, data.validation) =
        data.train.split(shares.validation / left, {.seed = shares.seed + 1, .stratify = stratify});
  }
  return data;
}

void add_task_notes(std::vector<std::string>& notes, const Splits& data, const TaskShares& shares,
                    const std::string& what, const std::string& samples) {
  notes.push_back(task_note(data, what, samples));
  std::vector<std::string> empty;
  if (shares.validation > 0 && data.validation.size() == 0) empty.emplace_back("validation");
  if (shares.test > 0 && data.test.size() == 0) empty.emplace_back("test");
  if (empty.empty()) return;
  notes.push_back(fmt::format(
      "warning: of {0} {1} to train with, none is left for the {2} set; more {1} of each class are "
      "needed, or a larger share",
      data.train.size(), samples, join(empty, " and the ")));
}

std::string task_note(const Splits& data, const std::string& what, const std::string& samples) {
  return fmt::format("learns {}; {} {} train, {} validate, {} test", what, data.train.size(),
                     samples, data.validation.size(), data.test.size());
}

}  // namespace linnet
