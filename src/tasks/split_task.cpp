// SPDX-License-Identifier: Apache-2.0
#include "tasks/split_task.h"

#include <map>
#include <string_view>
#include <tuple>

#include "base/ascii.h"
#include "base/check.h"
#include "base/join.h"
#include "data/targets.h"

namespace linnet {

void check_shares(const TaskShares& shares, bool has_validation, bool has_test,
                  const std::string& name) {
  const auto check = [&](bool has, const std::optional<double>& share, std::string_view what) {
    require(!has || share.value_or(0) <= 0,
            "'{0}' has its own {1} set; expected no '{1}' share beside it; got {2}", name, what,
            share.value_or(0));
  };
  check(has_validation, shares.validation, "validation");
  check(has_test, shares.test, "test");
  require(shares.stratify || !has_validation || !has_test,
          "'{}' has its own validation and test sets; expected no random split beside them", name);
}

Splits split_for_task(Splits data, const TaskShares& shares) {
  const double validation = shares.validation.value_or(kValidationShare);
  const double test = shares.test.value_or(kTestShare);
  require(validation >= 0 && test >= 0 && validation + test < 1,
          "validation and test are shares of the samples, together below 1; got {} and {}",
          validation, test);
  check_shares(shares, data.validation.size() > 0, data.test.size() > 0, data.train.info().name);
  const bool stratify = shares.stratify && !labels_of(data.train).empty();
  // The second split is of what the first has left.
  double left = 1;
  if (data.test.size() == 0 && test > 0) {
    std::tie(data.train, data.test) =
        data.train.split(test, {.seed = shares.seed, .stratify = stratify});
    left -= test;
  }
  if (data.validation.size() == 0 && validation > 0) {
    std::tie(data.train, data.validation) =
        data.train.split(validation / left, {.seed = shares.seed + 1, .stratify = stratify});
  }
  return data;
}

void warn_of_case(const std::vector<std::string>& classes, std::vector<std::string>& notes) {
  std::map<std::string, std::string> found;
  for (const std::string& name : classes) {
    const auto [other, is_new] = found.emplace(lower_ascii(name), name);
    if (is_new) continue;
    notes.push_back(fmt::format(
        "warning: the classes '{}' and '{}' differ by upper and lower case alone, and are learned "
        "as two",
        other->second, name));
    return;
  }
}

void add_task_notes(std::vector<std::string>& notes, const Splits& data, const TaskShares& shares,
                    const std::string& what, const std::string& samples) {
  notes.push_back(task_note(data, what, samples));
  warn_of_case(data.train.classes(), notes);
  std::vector<std::string> empty;
  const bool validates = shares.validation.value_or(kValidationShare) > 0;
  if (validates && data.validation.size() == 0) empty.emplace_back("validation");
  if (shares.test.value_or(kTestShare) > 0 && data.test.size() == 0) empty.emplace_back("test");
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
