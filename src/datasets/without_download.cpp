// SPDX-License-Identifier: Apache-2.0
// What a build for browsers (cmake/LinnetWeb.cmake) has instead of libcurl: no downloads.
#include "base/check.h"
#include "datasets/download.h"

namespace linnet {

std::string download(const std::string& url, std::size_t) {
  fail("cannot download {}: WebAssembly builds of Linnet download nothing", url);
}

}  // namespace linnet
