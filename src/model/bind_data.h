// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/session.h"

namespace linnet {

/// Gives a sweep's programs the data set, which must outlive their runs.
inline void bind_samples(const Sweep& sweep, const Dataset& data) {
  sweep.bind(kSamples, data.sample_dtype == DType::u8 ? static_cast<const void*>(data.bytes.data())
                                                      : data.floats.data());
}

inline void bind_data(const Sweep& sweep, const Dataset& data) {
  bind_samples(sweep, data);
  sweep.bind(kTargets, data.labels.empty() ? static_cast<const void*>(data.values.data())
                                           : data.labels.data());
}

}  // namespace linnet
