// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/table_task.h>

#include <cstdint>

namespace linnet {

/// Gives a prepared training the network and the recipe that LevenbergMarquardt takes: one layer of
/// Dense and Tanh, so small that 10 rows determine each weight, no dropout and no average; early
/// stopping as before. Throws Error for classes and labels.
void take_least_squares(TableTask& task);

}  // namespace linnet
