// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "backend/cpu/kernel.h"
#include "backend/cpu/products/gemm.h"
#include "backend/cpu/products/panel_product.h"

namespace linnet::cpu {

// Large products by own tiles (panel_product.h), with nothing packed twice. Every element sums its
// terms in their order: equal bits whatever the tasks.

/// c (m, n) = a b, a row by row where it lies, b packed once. Tasks are blocks of rows, and groups
/// of columns where there are few rows. A row's bits do not depend on its place, nor on m.
class PackedProduct {
 public:
  explicit PackedProduct(const GemmShape& shape);

  std::size_t panel_bytes() const { return sizeof(float) * panel_floats_; }
  /// Tasks that pack() a group each.
  int groups() const { return groups_; }
  void pack(const StridedMatrix& b, int group, float* panels) const;

  int tasks() const { return row_parts_ * groups_; }
  Range rows_of_task(int task) const { return rows_of(task / groups_); }
  int group_of_task(int task) const { return task % groups_; }
  std::size_t scratch_bytes() const;
  /// Computes `rows` of a group's columns; rows of a and c follow each other. `start` (n), which
  /// may be null, is added to each row. Calls finish(first of the block in c, rows, columns) for
  /// each block that is summed.
  template <class Finish>
  void run(Range rows, int group, const float* a, const float* panels, const float* start, float* c,
           std::byte* scratch, Finish finish) const {
    const Range columns = columns_of(group);
    const int blocks = static_cast<int>((rows.size() + kBlockRows - 1) / kBlockRows);
    for (int i = 0; i < blocks; ++i) {
      const Range part = split(rows.size(), blocks, i);
      float* to = c + (rows.begin + part.begin) * shape_.n + columns.begin;
      multiply(a + (rows.begin + part.begin) * shape_.k, part.size(),
               panels + columns.begin * shape_.k, columns.size(),
               start == nullptr ? nullptr : start + columns.begin, to, scratch);
      finish(to, part.size(), columns.size());
    }
  }

 private:
  /// Rows whose terms stay in the L2 cache while all panels go by.
  static constexpr std::int64_t kBlockRows = 96;

  Range columns_of(int group) const;
  Range rows_of(int part) const;
  void multiply(const float* a, std::int64_t rows, const float* panels, std::int64_t columns,
                const float* start, float* c, std::byte* scratch) const;

  GemmShape shape_;
  int row_parts_ = 1;
  int groups_ = 1;
  std::size_t panel_floats_ = 0;
};

/// What the rows of a product are.
enum class ProductRows : std::uint8_t {
  any,
  samples,  ///< they may go through a chain (SampleStage)
};

/// Returns a kernel of c = a b, where b is the second operand, whose terms and columns lie these
/// strides apart; `start`: the operand that is added to each row, if there is one. finish(args,
/// first of the block in c, rows, columns) ends each block.
template <class Finish>
Kernel packed_product_kernel(const GemmShape& shape, std::int64_t term_stride,
                             std::int64_t column_stride, std::optional<std::size_t> start,
                             Finish finish, ProductRows rows_are = ProductRows::any) {
  const PackedProduct product(shape);
  Kernel kernel;
  kernel.packed_bytes = product.panel_bytes();
  kernel.packed_operands = {kSecond};
  kernel.packing.push_back(parallel(product.groups(), [=](const Args& args, const Task& task) {
    product.pack({args.in(kSecond), term_stride, column_stride}, task.index, args.pack());
  }));
  kernel.scratch_bytes = product.scratch_bytes();
  const auto run = [=](const Args& args, const Task& task, Range rows, int group) {
    product.run(rows, group, args.in(kFirst), args.pack(), start ? args.in(*start) : nullptr,
                args.out(kFirst), task.scratch,
                [&](float* c, std::int64_t count, std::int64_t columns) {
                  finish(args, c, count, columns);
                });
  };
  Stage stage = parallel(product.tasks(), [=](const Args& args, const Task& task) {
    run(args, task, product.rows_of_task(task.index), product.group_of_task(task.index));
  });
  if (rows_are == ProductRows::samples) {
    stage.by_sample = std::make_shared<const SampleStage>(
        SampleStage{shape.m,
                    {kFirst},
                    {kFirst},
                    [=](const Args& args, const Task& task, const SampleBlock& block) {
                      for (int g = 0; g < product.groups(); ++g) run(args, task, block.samples, g);
                    }});
  }
  kernel.stages.push_back(std::move(stage));
  return kernel;
}

/// c (m, n) = aᵀ b, sums over k rows of a (k, m) and b (k, n): some hundred rows at a time are
/// packed by all tasks, then multiplied by all tasks.
class PackedRowSums {
 public:
  explicit PackedRowSums(const GemmShape& shape);

  /// Returns whether there are tasks enough to share what is packed.
  bool worthwhile() const { return shape_.k > 0 && row_parts_ * column_parts_ >= 16; }
  /// Returns a kernel of operands a and b; its result is the node's first.
  Kernel kernel(std::size_t a, std::size_t b) const;

 private:
  /// Returns where in the workspace b's panels begin, after a's tiles.
  std::size_t panels_at() const;
  int passes() const;
  void pack(const Args& args, const Task& task, Range terms, std::size_t a, std::size_t b) const;
  void multiply(const Args& args, const Task& task, Range terms) const;

  GemmShape shape_;
  int row_parts_ = 1;
  int column_parts_ = 1;
};

}  // namespace linnet::cpu
