// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "describe/field.h"

namespace linnet::command {

/// Describes what the table [training] holds of TrainingOptions: its fields but for those that have
/// tables of their own or keys of several types. The flags of `linnet train` are those of its
/// fields.
const Description& training_table();

}  // namespace linnet::command
