// SPDX-License-Identifier: Apache-2.0
// The plug-in liblinnet_mpi.so: messages between two processes by MPI, and its all-reduce for
// RankReduce::fast.
#define OMPI_SKIP_MPICXX
#define MPICH_SKIP_MPICXX
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/check.h"
#include "base/version.h"
#include "dist/wire.h"

namespace linnet {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kTag = 1;
// MPI counts in int.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr std::size_t kMostSummed = kMostBytes / sizeof(float);

void check(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(status, text.data(), &length);
  fail("{} failed: {}", call, text.data());
}

class MpiWire : public Wire {
 public:
  MpiWire() {
    int done = 0;
    MPI_Initialized(&done);
    require(done == 0, "MPI is in use by this process already");
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    require(provided >= MPI_THREAD_SERIALIZED, "this MPI serves the thread alone that began it");
    check(MPI_Comm_dup(MPI_COMM_WORLD, &ranks_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(ranks_, MPI_ERRORS_RETURN);
    check(MPI_Comm_rank(ranks_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(ranks_, &size_), "MPI_Comm_size");
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void begin(int partner, std::span<const std::byte> send, std::span<std::byte> receive) override {
    requests_.clear();
    for (; !receive.empty(); receive = receive.subspan(std::min(kMostBytes, receive.size()))) {
      const auto count = static_cast<int>(std::min(kMostBytes, receive.size()));
      requests_.emplace_back();
      check(MPI_Irecv(receive.data(), count, MPI_BYTE, partner, kTag, ranks_, &requests_.back()),
            "MPI_Irecv");
    }
    for (; !send.empty(); send = send.subspan(std::min(kMostBytes, send.size()))) {
      const auto count = static_cast<int>(std::min(kMostBytes, send.size()));
      requests_.emplace_back();
      check(MPI_Isend(send.data(), count, MPI_BYTE, partner, kTag, ranks_, &requests_.back()),
            "MPI_Isend");
    }
    began_ = Clock::now();
  }

  void begin_sum(std::span<float> values) override {
    requests_.clear();
    for (; !values.empty(); values = values.subspan(std::min(kMostSummed, values.size()))) {
      const auto count = static_cast<int>(std::min(kMostSummed, values.size()));
      requests_.emplace_back();
      check(MPI_Iallreduce(MPI_IN_PLACE, values.data(), count, MPI_FLOAT, MPI_SUM, ranks_,
                           &requests_.back()),
            "MPI_Iallreduce");
    }
    began_ = Clock::now();
  }

  bool wait() override {
    const Clock::time_point start = Clock::now();
    for (;;) {
      int done = 0;
      check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done,
                        MPI_STATUSES_IGNORE),
            "MPI_Testall");
      if (done != 0) return true;
      const Clock::time_point now = Clock::now();
      if (now - start > 5ms) return false;
      // Long messages proceed in these calls alone, so sleeping would slow them down; a partner
      // that still computes may need this processor.
      if (now - began_ > 20us) sched_yield();
      if (now - began_ > 20ms) std::this_thread::sleep_for(20us);
    }
  }

  void interrupt() override {}  // wait() comes back by itself

  void close(bool all_are_there) override {
    // Where a rank is lost, MPI_Finalize would wait for it: mpirun ends the job when this process
    // ends.
    if (all_are_there) MPI_Finalize();
  }

 private:
  MPI_Comm ranks_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  std::vector<MPI_Request> requests_;
  Clock::time_point began_;
};

std::unique_ptr<Wire> open(const WireOptions&) { return std::make_unique<MpiWire>(); }

}  // namespace
}  // namespace linnet

extern "C" __attribute__((visibility("default"))) const linnet::RankPlugin* linnet_rank_plugin() {
  static const linnet::RankPlugin plugin{linnet::kVersionText, linnet::open};
  return &plugin;
}
