// SPDX-License-Identifier: Apache-2.0
#include "tasks/table/smooth_table.h"

#include <linnet/layers.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "describe/nearest.h"
#include "tasks/table/networks.h"

namespace linnet {
namespace {

constexpr std::int64_t kRowsOfAWeight = 10;
constexpr std::int64_t kLeastUnits = 3;
constexpr std::int64_t kMostUnits = 20;
constexpr std::int64_t kEpochs = 300;
constexpr std::int64_t kPatience = 20;
/// Rows that are computed together; the steps do not depend on it.
constexpr std::int64_t kBatch = 512;

}  // namespace

void take_least_squares(TableTask& task) {
  const TableTransform& transform = task.transform;
  require(!transform.target_stds().empty(),
          "[levenberg_marquardt] learns values; {} {}: train by another optimizer, such as adamw",
          quoted(transform.targets()),
          transform.target_kind() == TableTarget::classes ? "is a class" : "are yes or no");
  FunctionalNetwork functional;
  const Expression x = table_inputs(functional, transform);
  const auto outputs = static_cast<std::int64_t>(transform.targets().size());
  const std::int64_t weights_of_unit = x.shape().elements() + 1 + outputs;
  const std::int64_t units =
      std::clamp(task.data.train.size() * outputs / (kRowsOfAWeight * weights_of_unit), kLeastUnits,
                 kMostUnits);
  task.network =
      functional.build({{"output", x | Dense{.units = units} | Tanh{} | Dense{.units = outputs}}});
  add_target_scale(task.network, transform);
  TrainingOptions& training = task.training;
  training.optimizer = LevenbergMarquardt{};
  training.average = {};
  training.schedule = Constant{};
  training.epochs = kEpochs;
  training.patience = kPatience;
  training.batch = kBatch;
}

}  // namespace linnet
