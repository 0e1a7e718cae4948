// SPDX-License-Identifier: Apache-2.0
// Dense layers and products of matrices in double precision: operands are packed into panels of
// kTile columns, whose products square_tiles.h adds up.
#include <algorithm>
#include <utility>

#include "backend/cpu/products/square_tiles.h"
#include "core/align.h"
#include "ops/dense/dense.h"
#include "ops/matmul/matmul.h"
#include "ops_f64/elements.h"
#include "ops_f64/f64_kernels.h"

namespace linnet::cpu {
namespace {

/// Rows, columns and terms that a task has packed at a time: panels that fit into the L2 cache.
constexpr std::int64_t kMostRows = 128;
constexpr std::int64_t kMostColumns = 256;
constexpr std::int64_t kMostTerms = 256;
/// A sum is split over tasks that add up at least this number of terms each.
constexpr std::int64_t kLeastTerms = 1024;
constexpr std::int64_t kMostParts = 32;

constexpr std::int64_t tiles_of(std::int64_t elements) { return (elements + kTile - 1) / kTile; }
constexpr std::int64_t blocks_of(std::int64_t elements, std::int64_t most) {
  return (elements + most - 1) / most;
}

/// A matrix operand: element (i, t) of the left one, (t, j) of the right one, lies at i * own +
/// t * term.
struct Matrix {
  std::int64_t own = 0;   ///< between rows of the result, or its columns
  std::int64_t term = 0;  ///< between the terms of a sum
};

/// y (rows, columns) = sum of `terms` products, for each of `count` pairs of matrices.
struct Product {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t terms = 0;
  Matrix left;
  Matrix right;
  std::int64_t count = 1;
  std::int64_t parts = 1;  ///< of the terms, each summed by itself
  bool bias = false;       ///< operand 2 is added to each row
  Activation activation = Activation::none;

  std::int64_t row_blocks() const { return blocks_of(rows, kMostRows); }
  std::int64_t column_blocks() const { return blocks_of(columns, kMostColumns); }
  std::int64_t tasks() const { return count * row_blocks() * column_blocks() * parts; }
  std::int64_t elements() const { return rows * columns; }
};

/// Copies terms [first, first + terms) of `count` rows or columns from `begin` on into panels, each
/// `terms` rows of kTile; what lies beyond them is 0.
void pack(const double* from, const Matrix& matrix, std::int64_t begin, std::int64_t count,
          std::int64_t first, std::int64_t terms, double* to) {
  for (std::int64_t panel = 0; panel < count; panel += kTile, to += terms * kTile) {
    const std::int64_t width = std::min(kTile, count - panel);
    const double* const at = from + (begin + panel) * matrix.own + first * matrix.term;
    if (width < kTile) std::fill_n(to, terms * kTile, 0.0);
    if (matrix.own == 1) {
      for (std::int64_t t = 0; t < terms; ++t) {
        std::copy_n(at + t * matrix.term, width, to + t * kTile);
      }
      continue;
    }
    constexpr std::int64_t kTogether = 8;  // rows of a panel that stay in the nearest cache
    for (std::int64_t t = 0; t < terms; t += kTogether) {
      const std::int64_t some = std::min(kTogether, terms - t);
      for (std::int64_t i = 0; i < width; ++i) {
        const double* const row = at + i * matrix.own + t * matrix.term;
        for (std::int64_t k = 0; k < some; ++k) to[(t + k) * kTile + i] = row[k * matrix.term];
      }
    }
  }
}

constexpr std::size_t kPackedRows = kMostRows * kMostTerms;
constexpr std::size_t kPackedColumns = kMostColumns * kMostTerms;
constexpr std::size_t kSums = kMostRows * kMostColumns;
constexpr std::size_t kScratchBytes =
    (kPackedRows + kPackedColumns + kSums) * sizeof(double) + kAlignment;

/// Adds up one part of the terms of one block of the result, in tiles.
class Block {
 public:
  Block(const Product& product, std::int64_t task) : p_(product) {
    part_ = task % p_.parts;
    task /= p_.parts;
    column_ = task % p_.column_blocks() * kMostColumns;
    task /= p_.column_blocks();
    row_ = task % p_.row_blocks() * kMostRows;
    matrix_ = task / p_.row_blocks();
    rows_ = std::min(kMostRows, p_.rows - row_);
    columns_ = std::min(kMostColumns, p_.columns - column_);
  }

  void add_up(const Args& args, std::byte* scratch) {
    auto* const room = reinterpret_cast<double*>(
        align_up(reinterpret_cast<std::uintptr_t>(scratch)));  // which kAlignment more bytes allow
    double* const left = room + kSums;
    double* const right = left + kPackedRows;
    sums_ = room;
    const std::int64_t across = tiles_of(columns_);
    std::fill_n(sums_, tiles_of(rows_) * across * static_cast<std::int64_t>(kTileElements), 0.0);
    const double* const a = args.in<double>(kFirst) + matrix_ * p_.rows * p_.terms;
    const double* const b = args.in<double>(kSecond) + matrix_ * p_.terms * p_.columns;
    const std::int64_t end = p_.terms * (part_ + 1) / p_.parts;
    for (std::int64_t t = p_.terms * part_ / p_.parts; t < end; t += kMostTerms) {
      const std::int64_t terms = std::min(kMostTerms, end - t);
      pack(a, p_.left, row_, rows_, t, terms, left);
      pack(b, p_.right, column_, columns_, t, terms, right);
      for (std::int64_t i = 0; i < rows_; i += kTile) {
        for (std::int64_t j = 0; j < columns_; j += kTile) {
          add_tile_part(tile(i, j), left + i * terms, right + j * terms, terms,
                        std::min(kTile, rows_ - i), std::min(kTile, columns_ - j));
        }
      }
    }
  }

  /// Calls f(element of the result, sums, count) for the block's rows, a tile's at a time.
  template <class F>
  void for_rows(const F& f) const {
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < columns_; j += kTile) {
        const std::int64_t to = (row_ + i) * p_.columns + column_ + j;
        f(matrix_ * p_.elements() + to, tile(i - i % kTile, j) + i % kTile * kTile,
          std::min(kTile, columns_ - j));
      }
    }
  }
  std::int64_t part() const { return part_; }

 private:
  double* tile(std::int64_t i, std::int64_t j) const {
    return sums_ +
           (i / kTile * tiles_of(columns_) + j / kTile) * static_cast<std::int64_t>(kTileElements);
  }

  const Product& p_;
  std::int64_t part_;
  std::int64_t matrix_;
  std::int64_t row_;
  std::int64_t column_;
  std::int64_t rows_;
  std::int64_t columns_;
  double* sums_ = nullptr;
};

/// Writes elements of the result from their sums.
void finish(const Product& p, const Args& args, std::int64_t first, const double* sums,
            std::int64_t count) {
  double* const y = args.out<double>(kFirst) + first;
  const double* const b = p.bias ? args.in<double>(DenseOp::In::b) + first % p.columns : nullptr;
  for (std::int64_t i = 0; i < count; ++i) y[i] = b == nullptr ? sums[i] : sums[i] + b[i];
  switch (p.activation) {
    case Activation::none: return;
    case Activation::tanh: return map_elements(Map::tanh, y, count, y);
    case Activation::sigmoid: return map_elements(Map::sigmoid, y, count, y);
    default:
      for (std::int64_t i = 0; i < count; ++i) y[i] = activate(p.activation, y[i]);
  }
}

Kernel kernel_of(Product p) {
  if (p.row_blocks() * p.column_blocks() * p.count < 8) {
    p.parts = std::clamp<std::int64_t>(p.terms / kLeastTerms, 1, kMostParts);
  }
  Kernel kernel;
  kernel.scratch_bytes = kScratchBytes;
  const double cost = 0.1 * static_cast<double>(p.rows * p.columns) *
                      static_cast<double>(p.terms * p.count) / static_cast<double>(p.tasks());
  const std::int64_t blocks = p.tasks();
  kernel.stages.push_back(parallel(
      tasks_for(blocks, cost), blocks, [=](const Args& args, const Task& task, Range range) {
        for (std::int64_t i = range.begin; i < range.end; ++i) {
          Block block(p, i);
          block.add_up(args, task.scratch);
          if (p.parts == 1) {
            block.for_rows([&](std::int64_t first, const double* sums, std::int64_t count) {
              finish(p, args, first, sums, count);
            });
            continue;
          }
          double* const kept = args.work<double>() + block.part() * p.count * p.elements();
          block.for_rows([&](std::int64_t first, const double* sums, std::int64_t count) {
            std::copy_n(sums, count, kept + first);
          });
        }
      }));
  if (p.parts == 1) return kernel;
  const std::int64_t all = p.count * p.rows;
  kernel.workspace_bytes =
      static_cast<std::size_t>(p.parts * p.count * p.elements()) * sizeof(double);
  kernel.stages.push_back(
      parallel(tasks_for(all, static_cast<double>(p.columns * p.parts)), all,
               [=](const Args& args, Range range) {
                 double* const sums = args.work<double>();
                 for (std::int64_t i = range.begin * p.columns; i < range.end * p.columns; ++i) {
                   for (std::int64_t part = 1; part < p.parts; ++part) {
                     sums[i] += sums[part * p.count * p.elements() + i];
                   }
                 }
                 for (std::int64_t r = range.begin; r < range.end; ++r) {
                   finish(p, args, r * p.columns, sums + r * p.columns, p.columns);
                 }
               }));
  return kernel;
}

std::optional<Kernel> prepare_dense(const NodeView& node) {
  const Shape& x = node.in(DenseOp::In::x);
  const std::int64_t units = node.in(DenseOp::In::w)[0];
  const DenseAttrs& attrs = node.attrs<DenseOp>();
  return kernel_of({.rows = x[0],
                    .columns = units,
                    .terms = x[1],
                    .left = {.own = x[1], .term = 1},
                    .right = {.own = x[1], .term = 1},
                    .bias = attrs.bias,
                    .activation = attrs.activation});
}

std::optional<Kernel> prepare_grad_input(const NodeView& node) {
  const Shape& dz = node.in(DenseGradInputOp::In::dz);
  const std::int64_t features = node.in(DenseGradInputOp::In::w)[1];
  return kernel_of({.rows = dz[0],
                    .columns = features,
                    .terms = dz[1],
                    .left = {.own = dz[1], .term = 1},
                    .right = {.own = 1, .term = features}});
}

std::optional<Kernel> prepare_grad_weight(const NodeView& node) {
  const Shape& dz = node.in(DenseGradWeightOp::In::dz);
  const std::int64_t features = node.in(DenseGradWeightOp::In::x)[1];
  return kernel_of({.rows = dz[1],
                    .columns = features,
                    .terms = dz[0],
                    .left = {.own = 1, .term = dz[1]},
                    .right = {.own = 1, .term = features}});
}

std::optional<Kernel> prepare_matmul(const NodeView& node) {
  const MatmulAttrs& attrs = node.attrs<MatmulOp>();
  const MatmulDims dims(attrs, node.in(MatmulOp::In::a), node.in(MatmulOp::In::b));
  const Matrix rows{.own = dims.k, .term = 1};
  const Matrix columns{.own = 1, .term = dims.n};
  return kernel_of({.rows = dims.m,
                    .columns = dims.n,
                    .terms = dims.k,
                    .left = attrs.transpose_a ? Matrix{.own = 1, .term = dims.m} : rows,
                    .right = attrs.transpose_b ? Matrix{.own = dims.k, .term = 1} : columns,
                    .count = dims.products});
}

}  // namespace

void register_f64_products(Registry& registry) {
  registry.add(DenseOp::kName, prepare_dense);
  registry.add(DenseGradInputOp::kName, prepare_grad_input);
  registry.add(DenseGradWeightOp::kName, prepare_grad_weight);
  registry.add(MatmulOp::kName, prepare_matmul);
}

}  // namespace linnet::cpu
