// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>

#include <cstddef>
#include <stdexcept>
#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Reports a mistake of the user: a file, a shape, an option, a missing device. what() is one
/// sentence that names the operator, layer or file, what was expected and what came. Three kinds
/// derive from it; everything else, such as a wrong option or a layer that does not fit, is thrown
/// as Error itself. A bug inside Linnet is an InternalError, which does not derive from it.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reports that a file or a data set cannot be read, is damaged, holds values that no training can
/// use, or does not fit the network.
class DataError : public Error {
 public:
  using Error::Error;
};

/// Reports that a device is missing, cannot be used, or failed. The contents of a failed device are
/// lost; a Model on another device is not affected.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// Reports that the host or a device has less memory than requested. A smaller batch often fits:
/// the sentence names the largest one if it is known.
class OutOfMemory : public Error {
 public:
  /// Makes an error of this sentence and these numbers of bytes.
  explicit OutOfMemory(const std::string& what, std::size_t wanted = 0, std::size_t free = 0)
      : Error(what), wanted(wanted), free(free) {}
  std::size_t wanted;  ///< bytes requested; 0: unknown
  std::size_t free;    ///< bytes that are free; 0: unknown
};

/// Reports a broken invariant of Linnet itself, or a call outside its documented preconditions.
/// Please report it.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace linnet
LINNET_API_END
