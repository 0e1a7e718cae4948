// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/layouts_cuda.h"

#include <algorithm>

namespace linnet::cuda {
namespace {

constexpr int power_of_two_from(std::int64_t value, int largest) {
  int power = 1;
  while (power < value && power < largest) power *= 2;
  return power;
}

}  // namespace

std::optional<FoldLayout> fold_layout(const std::vector<ReduceGroup>& groups, bool splits) {
  if (groups.size() > kMaxGroups) return std::nullopt;
  const int width = !groups.empty() && groups.front().dim % 4 == 0 ? 4 : 1;
  FoldLayout layout;
  layout.width = width;
  layout.in_rows = groups.empty() || groups.front().reduced;
  for (const ReduceGroup& group : groups) {
    const bool packed = &group == &groups.front();  // strides of all others are multiples of it
    GroupAxes& axes = group.reduced ? layout.reduced : layout.kept;
    axes.add(packed ? group.dim / width : group.dim, packed ? group.stride * width : group.stride);
  }
  layout.outputs = layout.kept.product();
  layout.elements = layout.reduced.product();

  constexpr std::int64_t kThreads = 64 * 1024;  // to which more members help
  constexpr std::int64_t kBlocks = 256;         // to which more parts help
  constexpr std::int64_t kOfMember = 32;        // elements that are worth a part
  constexpr std::int64_t kMostOfMember = 1024;  // added one to the other: larger sums lose digits
  const int lanes =
      layout.in_rows ? 1 : power_of_two_from(layout.kept.dim[0], static_cast<int>(kWarp));
  const int largest = static_cast<int>(kBlock) / lanes;
  layout.members = power_of_two_from(layout.elements / (layout.in_rows ? 4 : 16), largest);
  while (layout.outputs * layout.members < kThreads && layout.members < largest &&
         layout.members * 2 <= layout.elements) {
    layout.members *= 2;
  }
  if (!splits || layout.outputs == 0) return layout;
  const std::int64_t blocks = (layout.outputs - 1) / layout.slots() + 1;
  const std::int64_t of_member = layout.elements / layout.members;
  const std::int64_t parts =
      std::max(std::min(kBlocks / blocks, of_member / kOfMember), of_member / kMostOfMember);
  layout.parts = static_cast<unsigned>(std::clamp<std::int64_t>(parts, 1, 65535));
  return layout;
}

std::optional<SpreadLayout> spread_layout(const std::vector<ReduceGroup>& groups, int width) {
  if (groups.size() > kMaxGroups) return std::nullopt;
  if (width > 1 && (groups.empty() || groups.front().dim % width != 0)) return std::nullopt;
  SpreadLayout layout;
  layout.width = width;
  layout.output_of_next = groups.empty() || groups.front().reduced ? 0 : 1;
  std::int64_t stride = 1;
  for (const ReduceGroup& group : groups) {
    const int pack = &group == &groups.front() ? width : 1;
    layout.outputs.add(group.dim / pack, group.reduced ? 0 : stride * pack);
    if (!group.reduced) stride *= group.dim;
  }
  layout.items = layout.outputs.product();
  return layout;
}

}  // namespace linnet::cuda
