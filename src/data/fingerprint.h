// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <string>

namespace linnet {

/// Returns what tells one data set from another, in a line: "60000 samples, checksum 1a2b3c4d",
/// "none" where there are no samples. The checksum (CRC-32) is that of all columns, their names and
/// lengths, weights and class names; of a source, of 64 records, evenly spread. Throws what reading
/// a record throws.
std::string fingerprint(const Dataset& data);

}  // namespace linnet
