// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dist/communicator.h"

namespace linnet {

/// Sums equally long arrays of all ranks into each of them: every element is node = left + right in
/// the binary tree over ranks in their order, the tree in which one rank adds as many leaves. So
/// the bits are the same on every rank, and those of one rank. Recursive halving and doubling:
/// partner rank xor 2^k, and each rank sends and receives 2 (R - 1) / R of the array.
class TreeSum {
 public:
  /// The communicator must outlive it; its size is a power of two.
  explicit TreeSum(Communicator& communicator);
  // Throw RankError.
  void sum(std::span<float> values);
  void sum(std::span<double> values);

 private:
  template <class T>
  void pieces(std::span<T> values);
  template <class T>
  void piece(std::span<T> values);
  /// Exchanges `send` with `partner`, and adds what comes to `into`, in the order of the ranks.
  template <class T>
  void combine(int partner, std::span<const T> send, std::span<T> into);

  Communicator& communicator_;
  std::size_t whole_bytes_;  ///< of the largest array that is exchanged whole
  std::vector<std::byte> received_;
};

}  // namespace linnet
