// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/tensor.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Holds named Tensors in a fixed order: weights, gradients, moments, counters, a position in a
/// training. A value, whose Tensors share memory as Tensors do. `const` functions may be called
/// from several threads at once.
/// @code
/// for (const auto& [name, tensor] : model.weights()) ...
/// @endcode
class State {
 public:
  /// Holds one Tensor and its name.
  struct Entry {
    std::string name;  ///< unique within a State, e.g. "conv2d_1.weight"
    Tensor value;      ///< of any type and shape
  };

  /// Makes a State without entries.
  State() = default;
  /// Makes a State of these entries, in this order. Throws Error for a name that occurs twice.
  explicit State(std::vector<Entry> entries);

  /// Returns the Tensor of this name. Throws Error for an unknown name.
  const Tensor& operator[](std::string_view name) const;
  /// Returns the Tensor of this name, or null for an unknown name. The pointer is valid until the
  /// next set().
  const Tensor* find(std::string_view name) const;
  /// Adds an entry at the end, or replaces the Tensor of the entry of that name.
  void set(std::string name, Tensor value);
  /// Returns the entries whose names begin with `prefix`, named without it.
  State part(std::string_view prefix) const;

  /// Returns the number of entries.
  std::size_t size() const { return entries_.size(); }
  /// Returns the first entry's iterator.
  std::vector<Entry>::const_iterator begin() const { return entries_.begin(); }
  /// Returns the iterator after the last entry.
  std::vector<Entry>::const_iterator end() const { return entries_.end(); }

 private:
  std::vector<Entry> entries_;
};

/// Returns whether both have the same names in the same order, with Tensors of the same bits.
/// Throws Error unless all are in host memory.
bool same_bits(const State& a, const State& b);

/// Writes a State to a file, which read_state() reads: a safetensors file whose last tensor,
/// "crc32", is the checksum of all bytes before it. The file appears whole or not at all, and is on
/// the disk when the call returns. Waits for a GPU. Throws Error if it cannot be written, and for a
/// name that is empty, "crc32" or not UTF-8.
void write_state(const std::filesystem::path& path, const State& state);
/// Reads a State that write_state() wrote, bit for bit. Throws DataError for a file that is missing
/// or damaged in any byte.
State read_state(const std::filesystem::path& path);

}  // namespace linnet
LINNET_API_END
