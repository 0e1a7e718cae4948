// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace linnet {

/// Returns the bytes at an http, https or file address. Gives up after 15 s without a connection,
/// 30 s below 1 kB/s, or 15 minutes; follows redirections between web addresses only. Throws Error
/// naming the address and the reason, or that it has more than `limit` bytes.
std::string download(const std::string& url, std::size_t limit);

}  // namespace linnet
