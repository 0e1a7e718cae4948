// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/functions.h>

#include <cstdint>
#include <functional>

namespace linnet {

/// Returns what queries (T, features) find in values (S, width) by keys (S, features), (T, width):
/// in each head the weights that `weigh` makes of scores (heads, T, S), times the values.
Expression attend(const Expression& query, const Expression& key, const Expression& value,
                  std::int64_t heads, const std::function<Expression(const Expression&)>& weigh);

}  // namespace linnet
