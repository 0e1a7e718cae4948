// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace linnet {

/// Fills a buffer with the next bytes; returns fewer only at the end.
using ReadBytes = std::function<std::size_t(std::span<char>)>;

/// Reads an .npy of so many bytes, piece by piece: the elements go to the Tensor directly. Throws
/// DataError as read_npy() does, without the file's name.
Tensor read_npy_from(const ReadBytes& read, std::uint64_t bytes);

/// Returns what stands before the elements in a .npy file. Throws Error naming `path` for bf16,
/// which NumPy lacks.
std::string npy_header(const Tensor& tensor, const std::string& path);

}  // namespace linnet
