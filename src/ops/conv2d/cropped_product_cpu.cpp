// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/cropped_product_cpu.h"

#include "core/align.h"

namespace linnet::cpu {
namespace {

/// Taps of all outputs over those that meet pixels.
double waste(const CorrelationAxis& axis, const std::vector<EqualOutputs>& all) {
  std::int64_t met = 0;
  for (const EqualOutputs& equal : all) met += equal.outputs.size() * equal.taps.size();
  return static_cast<double>(axis.out * axis.kernel) /
         static_cast<double>(std::max<std::int64_t>(met, 1));
}

}  // namespace

CroppedProduct::CroppedProduct(const Correlation& correlation, std::int64_t columns)
    : all_(correlation),
      columns_(columns),
      lines_(correlation.rows.equal_outputs()),
      places_(correlation.columns.equal_outputs()) {}

bool CroppedProduct::pays() const {
  constexpr double kWaste = 1.3;
  return all_.n >= kImages && waste(all_.rows, lines_) * waste(all_.columns, places_) >= kWaste;
}

std::size_t CroppedProduct::scratch_bytes() {
  return 2 * align_up(sizeof(float*) * static_cast<std::size_t>(kProductRows));
}

void CroppedProduct::run(const float* images, const float* panels, const float* start, float* to,
                         std::int64_t columns, Range range, std::byte* scratch) const {
  const int blocks = static_cast<int>((range.size() + kImages - 1) / kImages);
  for (int b = 0; b < blocks; ++b) {
    const Range part = split(range.size(), blocks, b);
    for (const EqualOutputs& lines : lines_) {
      for (const EqualOutputs& places : places_) {
        run_equal(lines, places, images, panels, start, to, columns,
                  {range.begin + part.begin, range.begin + part.end}, scratch);
      }
    }
  }
}

void CroppedProduct::run_equal(const EqualOutputs& lines, const EqualOutputs& places,
                               const float* images, const float* panels, const float* start,
                               float* to, std::int64_t width, Range block,
                               std::byte* scratch) const {
  const CorrelationAxis& rows = all_.rows;
  const CorrelationAxis& columns = all_.columns;
  auto** patches = reinterpret_cast<const float**>(scratch);
  auto** results = reinterpret_cast<float**>(scratch + scratch_bytes() / 2);
  const Range cut = places.taps;
  const bool empty = lines.taps.size() == 0 || cut.size() == 0;
  const SegmentedRows a{.rows = patches,
                        .segments = empty ? 0 : lines.taps.size(),
                        .length = empty ? 1 : cut.size() * all_.c,
                        .stride = columns.in * all_.c};
  const Panels b{.data = panels,
                 .terms = all_.taps(),
                 .first = lines.taps.begin * all_.segment() + cut.begin * all_.c,
                 .stride = all_.segment()};
  std::int64_t count = 0;
  const auto flush = [&] {
    if (count > 0) panel_product(a, count, b, width, start, results);
    count = 0;
  };
  for (std::int64_t n = block.begin; n < block.end; ++n) {
    for (std::int64_t i = lines.outputs.begin; i < lines.outputs.end; ++i) {
      const std::int64_t y = i * rows.stride - rows.pad + lines.taps.begin;
      const float* from = images + (n * rows.in + y) * columns.in * all_.c;
      float* row =
          to + (n * rows.place + rows.place_first + i * rows.place_step) * columns.place * columns_;
      for (std::int64_t j = places.outputs.begin; j < places.outputs.end; ++j) {
        patches[count] =
            empty ? images : from + (j * columns.stride - columns.pad + cut.begin) * all_.c;
        results[count] = row + (columns.place_first + j * columns.place_step) * columns_;
        if (++count == kProductRows) flush();
      }
    }
  }
  flush();
}

}  // namespace linnet::cpu
