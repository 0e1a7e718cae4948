// SPDX-License-Identifier: Apache-2.0
// What builds for browsers and for Windows (cmake/LinnetCross.cmake) have instead of libcurl: no
// downloads.
#include "base/build_name.h"
#include "base/check.h"
#include "datasets/download.h"

namespace linnet {

std::string download(const std::string& url, std::size_t) {
  fail("cannot download {}: {} builds of Linnet download nothing", url, kBuildName);
}

}  // namespace linnet
