// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/batch_stream.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace linnet::cuda {
namespace {

constexpr unsigned kOrdering = cudaEventDisableTiming | cudaEventBlockingSync;

}  // namespace

CudaBatchStream::CudaBatchStream(std::shared_ptr<const Device> device, BatchLayout layout)
    : device_(std::move(device)), layout_(std::move(layout)), ring_(layout_.slots) {
  LINNET_ASSERT(layout_.slots > 0 && layout_.batch > 0);
  device_->activate();
  copies_ = make_stream();
  for (std::size_t part = 0; part < layout_.record_bytes.size(); ++part) {
    const std::size_t bytes = slot_bytes(part) * layout_.slots;
    device_slots_.push_back(allocate(device_, bytes));
    void* host = nullptr;
    check(cudaHostAlloc(&host, bytes, cudaHostAllocDefault),
          fmt::format("allocating {} bytes of pinned memory", bytes));
    pinned_slots_.emplace_back(host);
  }
  for (std::size_t slot = 0; slot < layout_.slots; ++slot) {
    copied_.push_back(make_event(kOrdering));
    read_.push_back(make_event(kOrdering));
    // The slots are cleared on the device's stream: the first copies come after that.
    check(cudaEventRecord(read_[slot].get(), device_->stream()), "recording an event");
  }
}

CudaBatchStream::~CudaBatchStream() {
  ring_.stop();
  static_cast<void>(cudaSetDevice(device_->info().index));
  // Copies may still be reading pinned memory and writing what the device's stream frees next.
  static_cast<void>(cudaStreamSynchronize(copies_.get()));
}

std::size_t CudaBatchStream::slot_bytes(std::size_t part) const {
  return layout_.record_bytes[part] * layout_.batch;
}

std::byte* CudaBatchStream::pinned(std::size_t part, std::size_t slot) const {
  return static_cast<std::byte*>(pinned_slots_[part].get()) + slot * slot_bytes(part);
}

std::size_t CudaBatchStream::bytes() const {
  std::size_t total = 0;
  for (const auto& buffer : device_slots_) total += buffer->bytes();
  return total;
}

void CudaBatchStream::start(std::uint64_t samples, Fill fill) {
  ring_.start([this, samples, fill = std::move(fill)] { produce(samples, fill); });
}

void CudaBatchStream::produce(std::uint64_t samples, const Fill& fill) {
  device_->activate();
  std::vector<std::byte*> to(layout_.record_bytes.size());
  for (std::uint64_t batch = 0; batch * layout_.batch < samples; ++batch) {
    const std::size_t slot = ring_.slot_of(batch);
    const std::uint64_t position = batch * layout_.batch;
    const std::uint64_t count = std::min(layout_.batch, samples - position);
    check(cudaEventSynchronize(copied_[slot].get()), "waiting for the copy of a batch");
    for (std::size_t part = 0; part < to.size(); ++part) to[part] = pinned(part, slot);
    fill(position, count, to);
    if (!ring_.wait_until_released(batch)) return;
    copy(slot, count);
    ring_.publish();
  }
}

void CudaBatchStream::copy(std::size_t slot, std::uint64_t count) const {
  check(cudaStreamWaitEvent(copies_.get(), read_[slot].get()), "ordering a copy after a step");
  for (std::size_t part = 0; part < device_slots_.size(); ++part) {
    const std::size_t bytes = layout_.record_bytes[part] * count;
    check(cudaMemcpyAsync(device_slots_[part]->data() + slot * slot_bytes(part), pinned(part, slot),
                          bytes, cudaMemcpyHostToDevice, copies_.get()),
          fmt::format("copying a batch of {} bytes to the device", bytes));
  }
  check(cudaEventRecord(copied_[slot].get(), copies_.get()), "recording an event");
}

std::size_t CudaBatchStream::acquire() {
  const std::size_t slot = ring_.acquire();
  check(cudaStreamWaitEvent(device_->stream(), copied_[slot].get()),
        "ordering a step after a copy");
  return slot;
}

void CudaBatchStream::release() {
  check(cudaEventRecord(read_[ring_.oldest()].get(), device_->stream()), "recording an event");
  ring_.release();
}

}  // namespace linnet::cuda
