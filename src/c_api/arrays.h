// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/c_api.h>
#include <linnet/dataset.h>
#include <linnet/network.h>
#include <linnet/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace linnet::c_api {

/// Returns the arrays of the caller, checked: `what` names the argument in errors.
std::span<const linnet_array> arrays_of(const linnet_array* arrays, std::int32_t count,
                                        std::string_view what);

/// Returns the array's memory as a Tensor, or as a copy of a type that networks take. `name` is
/// that of an array without one.
Column column_of(const linnet_array& array, const std::string& name);

/// Returns inputs and targets as a data set in the caller's memory.
Dataset dataset_of(const Network& network, std::span<const linnet_array> inputs,
                   std::span<const linnet_array> targets);

}  // namespace linnet::c_api
