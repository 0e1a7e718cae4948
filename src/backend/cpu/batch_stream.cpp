// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/batch_stream.h"

#include <algorithm>
#include <utility>

#include "backend/cpu/memory.h"
#include "base/check.h"

namespace linnet::cpu {

HostBatchStream::HostBatchStream(BatchLayout layout)
    : layout_(std::move(layout)), ring_(layout_.slots) {
  LINNET_ASSERT(layout_.slots > 0 && layout_.batch > 0);
  for (const std::size_t record : layout_.record_bytes) {
    slots_.push_back(cpu::allocate(record * layout_.batch * layout_.slots));
  }
}

std::size_t HostBatchStream::bytes() const {
  std::size_t total = 0;
  for (const auto& slots : slots_) total += slots->bytes();
  return total;
}

void HostBatchStream::start(std::uint64_t samples, Fill fill) {
  ring_.start([this, samples, fill = std::move(fill)] { produce(samples, fill); });
}

void HostBatchStream::produce(std::uint64_t samples, const Fill& fill) {
  std::vector<std::byte*> to(slots_.size());
  for (std::uint64_t batch = 0; batch * layout_.batch < samples; ++batch) {
    if (!ring_.wait_until_released(batch)) return;
    const std::uint64_t position = batch * layout_.batch;
    for (std::size_t part = 0; part < to.size(); ++part) {
      const std::size_t slot_bytes = layout_.batch * layout_.record_bytes[part];
      to[part] = slots_[part]->data() + ring_.slot_of(batch) * slot_bytes;
    }
    fill(position, std::min(layout_.batch, samples - position), to);
    ring_.publish();
  }
}

}  // namespace linnet::cpu
