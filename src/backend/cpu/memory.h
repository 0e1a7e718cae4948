// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/backend.h"

namespace linnet::cpu {

/// Returns zero-filled host memory, aligned to a page (a huge page from 2 MiB on). Throws
/// OutOfMemory if the system has none left.
std::unique_ptr<Buffer> allocate(std::size_t bytes);
/// Returns memory of the caller's.
std::shared_ptr<Buffer> view(std::span<const std::byte> host);

}  // namespace linnet::cpu
