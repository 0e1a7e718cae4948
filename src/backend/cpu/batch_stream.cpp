// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/batch_stream.h"

#include <algorithm>
#include <utility>

#include "backend/cpu/memory.h"
#include "base/check.h"

namespace linnet::cpu {

HostBatchStream::HostBatchStream(BatchLayout layout) : layout_(std::move(layout)) {
  LINNET_ASSERT(layout_.slots > 0 && layout_.batch > 0);
  for (const std::size_t record : layout_.record_bytes) {
    slots_.push_back(cpu::allocate(record * layout_.batch * layout_.slots));
  }
}

HostBatchStream::~HostBatchStream() { stop(); }

std::size_t HostBatchStream::bytes() const {
  std::size_t total = 0;
  for (const auto& slots : slots_) total += slots->bytes();
  return total;
}

void HostBatchStream::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void HostBatchStream::update(std::uint64_t& count) {
  {
    const std::lock_guard lock(mutex_);
    ++count;
  }
  changed_.notify_all();
}

void HostBatchStream::start(std::uint64_t samples, Fill fill) {
  stop();
  filled_ = 0;
  acquired_ = 0;
  released_ = 0;
  stopping_ = false;
  error_ = nullptr;
  thread_ = std::thread([this, samples, fill = std::move(fill)] {
    try {
      produce(samples, fill);
    } catch (...) {
      {
        const std::lock_guard lock(mutex_);
        error_ = std::current_exception();
      }
      changed_.notify_all();
    }
  });
}

void HostBatchStream::produce(std::uint64_t samples, const Fill& fill) {
  std::vector<std::byte*> to(slots_.size());
  for (std::uint64_t batch = 0; batch * layout_.batch < samples; ++batch) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || batch < released_ + layout_.slots; });
      if (stopping_) return;
    }
    const std::uint64_t position = batch * layout_.batch;
    for (std::size_t part = 0; part < to.size(); ++part) {
      to[part] =
          slots_[part]->data() + batch % layout_.slots * layout_.batch * layout_.record_bytes[part];
    }
    fill(position, std::min(layout_.batch, samples - position), to);
    update(filled_);
  }
}

std::size_t HostBatchStream::acquire() {
  const std::uint64_t batch = acquired_++;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return error_ != nullptr || batch < filled_; });
  if (batch >= filled_) std::rethrow_exception(error_);
  return batch % layout_.slots;
}

void HostBatchStream::release() { update(released_); }

}  // namespace linnet::cpu
