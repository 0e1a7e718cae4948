// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/file_calls.h"

namespace linnet {

/// An open file that closes itself.
class OpenFile {
 public:
  explicit OpenFile(int number) : number_(number) {}
  OpenFile(OpenFile&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~OpenFile() {
    if (number_ >= 0) calls::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

/// Opens a file below a model's folder: no link is followed, so nothing leads out of the folder.
/// Throws DataError with the name of the tensor whose data it holds.
OpenFile open_below(const std::filesystem::path& folder, const std::filesystem::path& location,
                    std::string_view name);

}  // namespace linnet
