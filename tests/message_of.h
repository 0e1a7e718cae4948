// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/error.h>

#include <string>

namespace linnet::testing {

/// The message of the linnet::Error that `call` throws; "" if it throws none.
template <class F>
std::string message_of(const F& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace linnet::testing
