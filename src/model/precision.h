// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/devices.h>

namespace linnet {

/// Returns what a model of this precision computes in when it is moved to a CPU, which has no fp16.
constexpr Precision precision_on_cpu(Precision precision) {
  return precision == Precision::fp16 ? Precision::automatic : precision;
}

}  // namespace linnet
