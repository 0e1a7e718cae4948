// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace linnet {

/// Throws Error naming the column, the sample and its length unless each lies in [least, steps].
void check_lengths(std::span<const std::int64_t> lengths, std::string_view column,
                   std::int64_t least, std::int64_t steps);
void check_lengths(std::span<const std::int32_t> lengths, std::string_view column,
                   std::int64_t least, std::int64_t steps);

/// Returns a column's lengths; none: all of its steps count.
std::span<const std::int32_t> lengths_in(const Column& column);

/// Calls f(part, first) with the elements of a column, in memory, that lie before the end of their
/// sequences, and the place of the first of them: a sample at a time, without lengths all at once.
/// Ends where f returns true.
template <class T, class F>
void for_each_counted(const Column& column, F&& f) {
  const std::span<const T> elements = column.data.as<T>();
  const std::span<const std::int32_t> lengths = lengths_in(column);
  if (lengths.empty()) {
    f(elements, std::size_t{0});
    return;
  }
  const std::size_t record = elements.size() / lengths.size();
  const std::size_t step = record / static_cast<std::size_t>(column.record()[0]);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::size_t count = static_cast<std::size_t>(lengths[i]) * step;
    if (f(elements.subspan(i * record, count), i * record)) return;
  }
}

}  // namespace linnet
