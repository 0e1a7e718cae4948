// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tensor.h>
#include <linnet/types.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace linnet {

/// A named array in somebody's memory: dense, row-major, little-endian, size_of(dtype) times
/// shape.elements() bytes. From a file it may stand at any address: copy it, don't cast it.
struct TensorView {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  std::span<const std::byte> data;
};

/// Returns a copy in memory of its own.
Tensor to_tensor(const TensorView& view);

/// A safetensors file in memory (https://github.com/huggingface/safetensors: 8 bytes of header
/// length, a JSON header, the data). Copies share the bytes; views live as long as any of them.
class SafetensorsFile {
 public:
  /// Returns them in the order of their data in the file.
  const std::vector<TensorView>& tensors() const { return tensors_; }
  /// Returns null if there is none of that name.
  const TensorView* find(std::string_view name) const;
  /// Throws Error naming the file.
  const TensorView& at(std::string_view name) const;
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

 private:
  friend class SafetensorsReader;
  std::string path_;
  std::shared_ptr<const std::string> bytes_;
  std::vector<std::shared_ptr<const std::vector<std::byte>>> widened_;
  std::vector<TensorView> tensors_;
  std::map<std::string, std::size_t, std::less<>> index_;
  std::map<std::string, std::string> metadata_;
};

/// Reads tensors of F64, F32, F16, BF16, I64, I32, U8 and BOOL as they are, I8, I16 and U16 as i32,
/// and U32 and U64 as i64. Throws Error "cannot read 'x': ..." for a file that is cut, has bytes
/// left over, or whose header is damaged, repeats a name, has another element type, or does not
/// cover the data exactly once; for a BOOL that is neither 0 nor 1, and for a U64 above 2^63 - 1.
/// Needs memory for the file, its header and the integers that become wider alone, whatever the
/// header says.
SafetensorsFile read_safetensors(const std::filesystem::path& path);
/// Does the same for a file's bytes; `name` stands for it in errors.
SafetensorsFile parse_safetensors(std::string bytes, const std::string& name);

/// Writes the tensors in the order given, without gaps, after a header that is padded to 8 bytes.
/// The file appears whole or not at all. Throws Error where it can't be written, or where a name is
/// repeated, empty, "__metadata__" or no UTF-8.
void write_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                       const std::map<std::string, std::string>& metadata = {});

/// The last tensor of a file with a checksum: U8 (4), the CRC-32 (zlib's, little-endian) of all
/// bytes before it. Other readers find a tensor more.
inline constexpr const char* kChecksumTensor = "crc32";

/// write_safetensors() of a file with a checksum, by write_file_durably(): once it returns, a power
/// cut does not undo it.
void write_checked_safetensors(const std::filesystem::path& path,
                               std::span<const TensorView> tensors,
                               const std::map<std::string, std::string>& metadata = {});

/// Reads a file with a checksum; tensors() leaves that out. Throws Error for a file of which a bit
/// is not as it was written, and as read_safetensors() does.
SafetensorsFile read_checked_safetensors(const std::filesystem::path& path);

}  // namespace linnet
