// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/products/packed_products.h"

#include <algorithm>

#include "core/align.h"

namespace linnet::cpu {
namespace {

/// Every tile's number of rows divides it, and every panel's of columns that is not the last.
constexpr std::int64_t kRowStep = 12;
constexpr std::int64_t kColumnStep = 32;
/// Terms that PackedRowSums packs at a time: 2 MB of 1,000 columns.
constexpr std::int64_t kTerms = 512;

/// Nanoseconds of one core for a row, at a cautious 100 GFLOP/s.
double row_cost(std::int64_t n, std::int64_t k) {
  return 2.0 * static_cast<double>(n) * static_cast<double>(k) / 100;
}

std::int64_t steps_of(std::int64_t count, std::int64_t step) { return (count + step - 1) / step; }

/// Part `index` of [0, count) in whole steps.
Range in_steps(std::int64_t count, std::int64_t step, int parts, int index) {
  const Range steps = split(steps_of(count, step), parts, index);
  return {steps.begin * step, std::min(steps.end * step, count)};
}

}  // namespace

PackedProduct::PackedProduct(const GemmShape& shape) : shape_(shape) {
  constexpr std::int64_t kGroupColumns = 2 * kColumnStep;
  constexpr double kNanosecondsOfTerm = 0.08;  // few rows wait for b, which comes at 50 GB/s
  const double rows = static_cast<double>(shape.m) * row_cost(shape.n, shape.k);
  const double read = kNanosecondsOfTerm * static_cast<double>(shape.n * shape.k);
  const std::int64_t elements = std::max<std::int64_t>(shape.m * shape.n, 1);
  const int worth = tasks_for(elements, std::max(rows, read) / static_cast<double>(elements));
  row_parts_ = static_cast<int>(std::clamp<std::int64_t>(steps_of(shape.m, kBlockRows), 1, worth));
  groups_ = static_cast<int>(
      std::clamp<std::int64_t>(worth / row_parts_, 1, steps_of(shape.n, kGroupColumns)));
  const Range last = columns_of(groups_ - 1);
  panel_floats_ = static_cast<std::size_t>(last.begin * shape.k) +
                  linnet::cpu::panel_floats(shape.k, last.size());
}

Range PackedProduct::columns_of(int group) const {
  return in_steps(shape_.n, kColumnStep, groups_, group);
}

Range PackedProduct::rows_of(int part) const {
  return in_steps(shape_.m, kRowStep, row_parts_, part);
}

void PackedProduct::pack(const StridedMatrix& b, int group, float* panels) const {
  const Range columns = columns_of(group);
  pack_panels({b.data + columns.begin * b.column_stride, b.term_stride, b.column_stride}, 0,
              shape_.k, shape_.k, columns.size(), panels + columns.begin * shape_.k);
}

std::size_t PackedProduct::scratch_bytes() const { return 2 * sizeof(float*) * kBlockRows; }

void PackedProduct::multiply(const float* a, std::int64_t rows, const float* panels,
                             std::int64_t columns, const float* start, float* c,
                             std::byte* scratch) const {
  auto** from = reinterpret_cast<const float**>(scratch);
  auto** to = reinterpret_cast<float**>(scratch + sizeof(float*) * kBlockRows);
  for (std::int64_t i = 0; i < rows; ++i) {
    from[i] = a + i * shape_.k;
    to[i] = c + i * shape_.n;
  }
  panel_product({from, 1, shape_.k, 0}, rows, panels, columns, start, to,
                {.distant = shape_.m * shape_.n >= kDistantFloats});
}

PackedRowSums::PackedRowSums(const GemmShape& shape) : shape_(shape) {
  constexpr std::int64_t kBlock = 128;
  row_parts_ = static_cast<int>(std::max<std::int64_t>(shape.m / kBlock, 1));
  column_parts_ = static_cast<int>(std::max<std::int64_t>(shape.n / kBlock, 1));
}

std::size_t PackedRowSums::panels_at() const {
  return align_up(sizeof(float) * tile_floats(std::min(shape_.k, kTerms), shape_.m));
}

int PackedRowSums::passes() const { return static_cast<int>(steps_of(shape_.k, kTerms)); }

Kernel PackedRowSums::kernel(std::size_t a, std::size_t b) const {
  const std::int64_t terms = std::min(shape_.k, kTerms);
  Kernel kernel;
  kernel.workspace_bytes = panels_at() + sizeof(float) * panel_floats(terms, shape_.n);
  kernel.scratch_bytes = sizeof(float*) * static_cast<std::size_t>(terms);
  for (int i = 0; i < passes(); ++i) {
    const Range range = split(shape_.k, passes(), i);
    kernel.stages.push_back(
        parallel(row_parts_ + column_parts_, [=, *this](const Args& args, const Task& task) {
          pack(args, task, range, a, b);
        }));
    kernel.stages.push_back(
        parallel(row_parts_ * column_parts_,
                 [=, *this](const Args& args, const Task& task) { multiply(args, task, range); }));
  }
  return kernel;
}

void PackedRowSums::pack(const Args& args, const Task& task, Range terms, std::size_t a,
                         std::size_t b) const {
  auto** lines = reinterpret_cast<const float**>(task.scratch);
  const bool left = task.index < row_parts_;
  const std::int64_t width = left ? shape_.m : shape_.n;
  const float* from = args.in(left ? a : b);
  for (std::int64_t t = terms.begin; t < terms.end; ++t) *lines++ = from + t * width;
  lines -= terms.size();
  if (left) {
    const Range rows = in_steps(shape_.m, kRowStep, row_parts_, task.index);
    for (std::int64_t t = 0; t < terms.size(); ++t) lines[t] += rows.begin;
    pack_tiles(lines, terms.size(), rows.size(), args.work() + rows.begin * terms.size());
    return;
  }
  const Range columns = in_steps(shape_.n, kColumnStep, column_parts_, task.index - row_parts_);
  pack_row_panels(lines, columns.begin, terms.size(), columns.size(),
                  args.work(panels_at()) + columns.begin * terms.size());
}

void PackedRowSums::multiply(const Args& args, const Task& task, Range terms) const {
  const Range rows = in_steps(shape_.m, kRowStep, row_parts_, task.index / column_parts_);
  const Range columns = in_steps(shape_.n, kColumnStep, column_parts_, task.index % column_parts_);
  tile_product({terms.size(), rows.size(), columns.size()}, args.work() + rows.begin * terms.size(),
               args.work(panels_at()) + columns.begin * terms.size(), terms.begin > 0,
               args.out(kFirst) + rows.begin * shape_.n + columns.begin, shape_.n);
}

}  // namespace linnet::cpu
