// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace linnet {

/// Everything that a user can get wrong (a file, a shape, an option, a missing device) is thrown as
/// this type. what() is one sentence that names the operator or file, what was expected and what
/// came. A bug inside Linnet is an InternalError instead.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A broken invariant of Linnet itself; please report it.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace linnet
