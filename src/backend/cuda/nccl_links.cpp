// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/nccl_links.h"

#include <cstring>
#include <thread>
#include <utility>

#include "backend/cuda/nccl_library.h"
#include "base/check.h"

namespace linnet::cuda {

#if LINNET_HAVE_NCCL

namespace {

const NcclLibrary& nccl() {
  const NcclLibrary* library = nccl_library();
  LINNET_ASSERT(library != nullptr);
  return *library;
}

void check_nccl(ncclResult_t status, const char* what) {
  require(status == ncclSuccess || status == ncclInProgress, "[NCCL] {}: {}", what,
          nccl().error_string(status));
}

/// A communicator that never blocks: a rank may be lost, which NCCL would wait for.
class NcclLinks final : public DeviceLinks {
 public:
  NcclLinks(std::shared_ptr<const Device> device, const DeviceLinkOptions& options)
      : device_(std::move(device)), look_(options.look) {
    ncclUniqueId id{};
    require(options.id.size() == sizeof id, "a message between ranks is damaged");
    std::memcpy(&id, options.id.data(), sizeof id);
    device_->activate();
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    check_nccl(nccl().init_rank(&ranks_, options.size, id, options.rank, &config),
               "meeting the other ranks");
    settle("meeting the other ranks");
  }
  ~NcclLinks() override {
    if (ranks_ != nullptr) static_cast<void>(nccl().abort(ranks_));
  }
  NcclLinks(const NcclLinks&) = delete;
  NcclLinks& operator=(const NcclLinks&) = delete;

  void exchange(int partner, Buffer& buffer, BufferPart send, std::size_t receive) override {
    run("exchanging", [&] {
      check_nccl(nccl().send(buffer.data() + send.begin, send.bytes, ncclUint8, partner, ranks_,
                             device_->stream()),
                 "sending");
      check_nccl(nccl().receive(buffer.data() + receive, send.bytes, ncclUint8, partner, ranks_,
                                device_->stream()),
                 "receiving");
    });
  }

  void sum(Buffer& buffer, BufferPart floats, BufferPart doubles) override {
    run("summing", [&] {
      const auto add = [&](BufferPart part, ncclDataType_t type, std::size_t element) {
        std::byte* values = buffer.data() + part.begin;
        check_nccl(nccl().all_reduce(values, values, part.bytes / element, type, ncclSum, ranks_,
                                     device_->stream()),
                   "summing");
      };
      add(floats, ncclFloat32, sizeof(float));
      add(doubles, ncclFloat64, sizeof(double));
    });
  }

 private:
  template <class F>
  void run(const char* what, const F& enqueue) {
    device_->activate();
    check_nccl(nccl().group_start(), what);
    enqueue();
    check_nccl(nccl().group_end(), what);
    settle(what);
    check(cudaEventRecord(done_.get(), device_->stream()), what);
    wait(what, [&] {
      const cudaError_t status = cudaEventQuery(done_.get());
      if (status != cudaErrorNotReady) check(status, what);
      return status == cudaSuccess;
    });
  }

  /// Waits until what was called has been enqueued.
  void settle(const char* what) {
    wait(what, [&] { return state(what) != ncclInProgress; });
  }

  ncclResult_t state(const char* what) {
    ncclResult_t state = ncclSuccess;
    check_nccl(nccl().async_error(ranks_, &state), what);
    check_nccl(state, what);
    return state;
  }

  template <class F>
  void wait(const char* what, const F& done) {
    while (!done()) {
      state(what);
      if (look_) look_();
      std::this_thread::yield();
    }
  }

  std::shared_ptr<const Device> device_;
  std::function<void()> look_;
  ncclComm_t ranks_ = nullptr;
  Event done_ = make_event(cudaEventDisableTiming);
};

}  // namespace

bool has_nccl() { return nccl_library() != nullptr; }

std::string new_nccl_id() {
  ncclUniqueId id{};
  check_nccl(nccl().get_unique_id(&id), "making an id");
  return {reinterpret_cast<const char*>(&id), sizeof id};
}

std::unique_ptr<DeviceLinks> link_by_nccl(std::shared_ptr<const Device> device,
                                          const DeviceLinkOptions& options) {
  return std::make_unique<NcclLinks>(std::move(device), options);
}

#else

bool has_nccl() { return false; }
std::string new_nccl_id() { fail("this build has no NCCL"); }
std::unique_ptr<DeviceLinks> link_by_nccl(std::shared_ptr<const Device> /*device*/,
                                          const DeviceLinkOptions& /*options*/) {
  fail("this build has no NCCL");
}

#endif

}  // namespace linnet::cuda
