// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/callback.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace linnet {

/// A number of a record; a double that is not finite was not measured.
using RecordNumber = std::variant<std::int64_t, double, bool>;

/// Returns an epoch as logs write it, key by key: numbers of training, validation and test, custom
/// metrics last.
std::vector<std::pair<std::string, RecordNumber>> epoch_record(const EpochReport& report);

}  // namespace linnet
