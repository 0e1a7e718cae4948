// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/types.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

namespace linnet {

/// An array of a .npy file: row-major, in bytes aligned for any of its types.
struct NpyArray {
  Shape shape;
  DType dtype = DType::f32;  ///< f32, f64, u8 or i32
  std::vector<std::byte> bytes;
};

/// Reads NumPy's format (numpy.lib.format, versions 1.0, 2.0 and 3.0): little-endian f4, f8, u1, i4
/// in C order, and i8 where every number fits an i32. Throws Error "cannot read 'x': ..." for any
/// other type, for Fortran order, and for a file that is cut, damaged or has bytes left over.
NpyArray read_npy(const std::filesystem::path& path);

/// Writes version 1.0, whole or not at all. `data` holds shape.elements() elements of f32, f64, u8
/// or i32. Throws Error where the file can't be written.
void write_npy(const std::filesystem::path& path, DType dtype, const Shape& shape,
               std::span<const std::byte> data);

}  // namespace linnet
