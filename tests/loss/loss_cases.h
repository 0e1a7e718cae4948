// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/loss.h>

#include <vector>

namespace linnet::testing {

using Numbers = std::vector<double>;

// Operands of losses: four samples of three outputs, with targets of each kind.
inline const Numbers kX{1, -2, 0.5, 0, 3, -1, 2, 2, -1.5, -0.5, 0.25, 1};
inline const Numbers kLabels{0, 2, 1, 0};
inline const Numbers kShares{.7, .2, .1, 0, 1, 0, .5, .25, .25, .1, .1, .8};
inline const Numbers kAnswers{1, 0, 1, 0, 1, 0, 0, 0, 1, 1, 1, 0};
inline const Numbers kValues{0, -1, 2, 1, 1, 1, -2, 0.5, 0, 0, 3, 1};
inline const std::vector<double> kWeights{1, 2, 0.5};
inline const std::vector<double> kPositive{3, 1, 0.5};

/// 0 and 1 as -1 and 1.
inline Numbers signs(Numbers answers) {
  for (double& a : answers) a = 2 * a - 1;
  return answers;
}

struct Case {
  Loss loss;
  LossOptions options;
  Numbers target;
  double value;
  Numbers gradient;  ///< by x
};

}  // namespace linnet::testing
