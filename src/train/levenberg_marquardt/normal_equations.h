// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/thread_team.h"

namespace linnet {

/// A^T A x = A^T b of a tall A whose rows arrive in blocks, and damped forms of it, all in double
/// precision. The order of every sum is fixed: results do not depend on the number of threads.
class NormalEquations {
 public:
  /// Rows that a block may have.
  static constexpr std::int64_t kBlockRows = 256;

  /// Writes row `row` of the block: the elements of A, then that of b. `to` is zero before.
  using Row = std::function<void(std::int64_t row, std::span<double> to)>;

  /// Returns the bytes that one of so many unknowns takes.
  static std::size_t bytes(std::size_t unknowns);

  /// Throws OutOfMemory where they are not there.
  NormalEquations(std::size_t unknowns, ThreadTeam& team);

  /// Forgets all rows.
  void clear();
  /// Adds `count` rows, at most kBlockRows. `row` is called from several threads.
  void add(std::int64_t count, const Row& row);

  /// Returns element i of the diagonal of A^T A, of A^T b, and b^T b.
  double diagonal(std::size_t i) const { return at(i, i); }
  double right_side(std::size_t i) const { return at(unknowns_, i); }
  double squares() const { return at(unknowns_, unknowns_); }

  /// Factorises A^T A + diag(added). Returns false where it is not positive definite in this
  /// precision.
  bool factorize(std::span<const double> added);
  /// Solves with the last factor: x becomes (A^T A + diag(added))^-1 x.
  void solve(std::span<double> x) const;

 private:
  /// Doubles of a cache line each, so that tiles begin at one.
  struct alignas(64) Line {
    double of[8];
  };
  /// A lower triangle of square tiles, row after row, or a row of tall ones.
  class Tiles {
   public:
    explicit Tiles(std::size_t elements) : lines_(elements / 8) {}
    double* data() { return lines_.front().of; }
    const double* data() const { return lines_.front().of; }
    std::size_t elements() const { return lines_.size() * 8; }

   private:
    std::vector<Line> lines_;
  };

  double at(std::size_t row, std::size_t column) const;
  bool factorize_diagonal(std::int64_t tile, std::span<const double> added);
  void factorize_below(std::int64_t row, std::int64_t column);
  template <class F>
  void for_each(std::int64_t count, const F& f);

  std::size_t unknowns_;
  std::int64_t side_;  ///< tiles of a row; the row after the unknowns is b's
  ThreadTeam& team_;
  Tiles products_;  ///< A^T A, and A^T b as one more row
  Tiles factor_;    ///< L of L L^T; each tile is stored column by column
  Tiles block_;     ///< the rows that are added, kTile columns after the others
};

}  // namespace linnet
