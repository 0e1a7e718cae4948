// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>

#include "base/check.h"

namespace linnet::cpu {
namespace {

/// Returns what the limit of this process's addresses (ulimit -v) leaves.
std::size_t bytes_below_limit(std::size_t page) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return limit.rlim_cur - std::min<std::size_t>(limit.rlim_cur, pages * page);
}

/// Returns the machine's memory; 0 if the system does not say.
std::size_t free_bytes() {
  const long pages = sysconf(_SC_AVPHYS_PAGES);
  const long size = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || size <= 0) return 0;
  const auto page = static_cast<std::size_t>(size);
  return std::min(static_cast<std::size_t>(pages) * page, bytes_below_limit(page));
}

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
    mapped_ =
        mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped_ == MAP_FAILED) {
      throw OutOfMemory(fmt::format("out of memory: {} bytes were requested", bytes), bytes,
                        free_bytes());
    }
    data_ = static_cast<std::byte*>(mapped_);
    if (bytes >= kHuge) {
      const auto address = reinterpret_cast<std::uintptr_t>(data_);
      data_ += (kHuge - address % kHuge) % kHuge;
      madvise(data_, bytes, MADV_HUGEPAGE);  // advice: the kernel may refuse
    }
  }
  ~HostBuffer() override {
    if (mapped_bytes_ > 0) munmap(mapped_, mapped_bytes_);
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
