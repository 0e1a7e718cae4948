// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/metrics.h>
#include <linnet/series_task.h>

#include <optional>
#include <string>
#include <vector>

#include "report/json.h"

namespace linnet::command {

/// An answer that looks at no input, measured beside a model on the test set.
struct Trivial {
  Json json = {};             ///< {"answer": "always 'no'", "accuracy": 0.61, "beaten": true}
  std::string sentence = {};  ///< where the model is not better; else empty
};

/// Returns the answer with the most frequent class of the training set, or with the mean of its
/// values; nothing for data that have neither. `test`: the model's metrics on `data`.
std::optional<Trivial> trivial_answer(const Metrics& test, const Dataset& train,
                                      const Dataset& data);

/// Returns a sentence that names the targets whose last value, or value of a season ago, is as good
/// a forecast as the model's; "" where there is none.
std::string naive_is_better(const std::vector<SeriesScore>& scores);

}  // namespace linnet::command
