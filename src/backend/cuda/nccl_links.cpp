// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/nccl_links.h"

#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "backend/cuda/joined_steps.h"
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
  NcclLinks(std::shared_ptr<const Device> device, std::int64_t graph_steps,
            const DeviceLinkOptions& options)
      : device_(std::move(device)), look_(options.look) {
    ncclUniqueId id{};
    require(options.id.size() == sizeof id, "a message between ranks is damaged");
    std::memcpy(&id, options.id.data(), sizeof id);
    device_->activate();
    done_ = make_event(cudaEventDisableTiming);  // belongs to the device that is active
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    check_nccl(nccl().init_rank(&ranks_, options.size, id, options.rank, &config),
               "meeting the other ranks");
    settle("meeting the other ranks");
    steps_.emplace(device_, graph_steps,
                   [this](std::byte* memory, const LinkedPart& part) { carry(memory, part); });
  }
  ~NcclLinks() override {
    steps_.reset();  // NCCL waits for the graphs that hold its calls
    if (ranks_ != nullptr) static_cast<void>(nccl().abort(ranks_));
  }
  NcclLinks(const NcclLinks&) = delete;
  NcclLinks& operator=(const NcclLinks&) = delete;

  void run(Buffer& buffer, const LinkedSteps& steps) override {
    device_->activate();
    steps_->enqueue(buffer.data(), steps);
    check(cudaEventRecord(done_.get(), device_->stream()), "summing");
    wait("summing", [&] {
      const cudaError_t status = cudaEventQuery(done_.get());
      if (status != cudaErrorNotReady) check(status, "summing");
      return status == cudaSuccess && state("summing") != ncclInProgress;
    });
  }

 private:
  void carry(std::byte* memory, const LinkedPart& part) {
    const char* const what = part.partner < 0 ? "summing" : "exchanging";
    check_nccl(nccl().group_start(), what);
    if (part.partner < 0) {
      const auto add = [&](BufferPart of, ncclDataType_t type, std::size_t element) {
        std::byte* values = memory + of.begin;
        check_nccl(nccl().all_reduce(values, values, of.bytes / element, type, ncclSum, ranks_,
                                     device_->stream()),
                   what);
      };
      add(part.own, ncclFloat32, sizeof(float));
      add(part.other, ncclFloat64, sizeof(double));
    } else {
      check_nccl(nccl().send(memory + part.own.begin, part.own.bytes, ncclUint8, part.partner,
                             ranks_, device_->stream()),
                 what);
      check_nccl(nccl().receive(memory + part.other.begin, part.other.bytes, ncclUint8,
                                part.partner, ranks_, device_->stream()),
                 what);
    }
    check_nccl(nccl().group_end(), what);
    settle(what);
  }

  /// Waits until what was called has been enqueued.
  void settle(const char* what) {
    wait(what, [&] { return state(what) != ncclInProgress; });
  }

  ncclResult_t state(const char* what) {
    ncclResult_t state = ncclSuccess;
    check_nccl(nccl().async_error(ranks_, &state), what);
    if (state != ncclSuccess && state != ncclInProgress) hear_of_loss();
    check_nccl(state, what);
    return state;
  }

  /// A broken connection may be the first sign of a lost rank: lets the others say so.
  void hear_of_loss() {
    for (int i = 0; i < 200 && look_; ++i) {
      look_();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
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
  Event done_;
  std::optional<JoinedSteps> steps_;
};

}  // namespace

bool has_nccl() { return nccl_library() != nullptr; }

std::string new_nccl_id() {
  ncclUniqueId id{};
  check_nccl(nccl().get_unique_id(&id), "making an id");
  return {reinterpret_cast<const char*>(&id), sizeof id};
}

std::unique_ptr<DeviceLinks> link_by_nccl(std::shared_ptr<const Device> device,
                                          std::int64_t graph_steps,
                                          const DeviceLinkOptions& options) {
  return std::make_unique<NcclLinks>(std::move(device), graph_steps, options);
}

#else

bool has_nccl() { return false; }
std::string new_nccl_id() { fail("this build has no NCCL"); }
std::unique_ptr<DeviceLinks> link_by_nccl(std::shared_ptr<const Device> /*device*/,
                                          std::int64_t /*graph_steps*/,
                                          const DeviceLinkOptions& /*options*/) {
  fail("this build has no NCCL");
}

#endif

}  // namespace linnet::cuda
