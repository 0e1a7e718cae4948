// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/functions.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace linnet::testing {

/// The functions on expressions by the names of tests/fixtures/make_function_fixtures.py's cases.
using FunctionCase = std::function<Expression(const std::vector<Expression>&)>;
const std::map<std::string, FunctionCase>& function_cases();

}  // namespace linnet::testing
