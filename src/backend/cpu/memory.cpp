// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/memory.h"

#include <cstdint>
#include <cstring>

#include "base/check.h"
#include "base/process.h"

namespace linnet::cpu {
namespace {

void copy(const std::byte* from, std::span<std::byte> to) {
  if (!to.empty()) std::memcpy(to.data(), from, to.size());
}

class HostBuffer final : public Buffer {
 public:
  explicit HostBuffer(std::size_t bytes) : bytes_(bytes) {
    constexpr std::size_t kHuge = std::size_t{2} << 20;
    if (bytes == 0) return;
    // Room to start at a huge page's boundary; untouched pages cost nothing.
    mapped_bytes_ = bytes >= kHuge ? bytes + kHuge : bytes;
    mapped_ = map_pages(mapped_bytes_);
    if (mapped_ == nullptr) {
      throw OutOfMemory(fmt::format("out of memory: {} bytes were requested", bytes), bytes,
                        free_bytes());
    }
    data_ = static_cast<std::byte*>(mapped_);
    if (bytes >= kHuge) {
      const auto address = reinterpret_cast<std::uintptr_t>(data_);
      data_ += (kHuge - address % kHuge) % kHuge;
      prefer_huge_pages(data_, bytes);
    }
  }
  ~HostBuffer() override {
    if (mapped_bytes_ > 0) unmap_pages(mapped_, mapped_bytes_);
  }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;

  std::byte* data() override { return data_; }
  std::size_t bytes() const override { return bytes_; }
  void read(std::size_t offset, std::span<std::byte> to) const override {
    copy(data_ + offset, to);
  }

 private:
  std::size_t bytes_;
  std::size_t mapped_bytes_ = 0;
  void* mapped_ = nullptr;
  std::byte* data_ = nullptr;
};

/// Memory of somebody else.
class ViewBuffer final : public Buffer {
 public:
  explicit ViewBuffer(std::span<const std::byte> host) : host_(host) {}
  std::byte* data() override { return const_cast<std::byte*>(host_.data()); }
  std::size_t bytes() const override { return host_.size(); }
  void read(std::size_t offset, std::span<std::byte> to) const override {
    copy(host_.data() + offset, to);
  }

 private:
  std::span<const std::byte> host_;
};

}  // namespace

std::unique_ptr<Buffer> allocate(std::size_t bytes) { return std::make_unique<HostBuffer>(bytes); }

std::shared_ptr<Buffer> view(std::span<const std::byte> host) {
  return std::make_shared<ViewBuffer>(host);
}

}  // namespace linnet::cpu
