// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/tensor.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Named Tensors in a fixed order: weights, gradients, moments, counters, a position in a training.
/// A value; its Tensors share memory as Tensors do.
class State {
 public:
  struct Entry {
    std::string name;
    Tensor value;
  };

  State() = default;
  /// Throws Error for a name that is there twice.
  explicit State(std::vector<Entry> entries);

  /// Throws Error for an unknown name.
  const Tensor& operator[](std::string_view name) const;
  /// Returns null for an unknown name.
  const Tensor* find(std::string_view name) const;
  /// Adds an entry, or replaces the one of that name.
  void set(std::string name, Tensor value);
  /// The entries whose names begin so, without that beginning.
  State part(std::string_view prefix) const;

  std::size_t size() const { return entries_.size(); }
  std::vector<Entry>::const_iterator begin() const { return entries_.begin(); }
  std::vector<Entry>::const_iterator end() const { return entries_.end(); }

 private:
  std::vector<Entry> entries_;
};

/// Whether both have the same names in the same order, with Tensors of the same bits.
bool same_bits(const State& a, const State& b);

}  // namespace linnet
LINNET_API_END
