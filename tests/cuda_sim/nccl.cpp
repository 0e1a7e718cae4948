// SPDX-License-Identifier: Apache-2.0
#include "cuda_sim/nccl.h"

#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backend/cuda/nccl_library.h"
#include "cuda_sim/machine.h"

namespace {

using Bytes = std::vector<std::byte>;

std::size_t element_bytes(ncclDataType_t type) {
  return type == ncclUint8 ? 1 : type == ncclFloat32 ? sizeof(float) : sizeof(double);
}

/// What the ranks of one id have sent to each other.
struct World {
  std::mutex mutex;
  int size = 0;
  std::map<std::pair<int, int>, std::deque<Bytes>> messages;  ///< by sender and receiver
  std::map<std::uint64_t, std::map<int, Bytes>> sums;         ///< by their number, then rank
  std::map<std::uint64_t, int> taken;                         ///< of a sum: by how many ranks
  std::set<int> gone;                                         ///< ranks
};

std::mutex worlds_mutex;
std::map<std::string, std::weak_ptr<World>>& worlds() {
  static std::map<std::string, std::weak_ptr<World>> all;
  return all;
}

/// A call, which returns true once it is done; a captured one is made again for each launch.
using Call = std::function<bool()>;
using MakeCall = std::function<Call()>;
thread_local int depth = 0;
thread_local ncclComm* of_group = nullptr;

template <class T>
void add(const Bytes& from, Bytes& to) {
  for (std::size_t at = 0; at < to.size(); at += sizeof(T)) {
    T a{};
    T b{};
    std::memcpy(&a, from.data() + at, sizeof a);
    std::memcpy(&b, to.data() + at, sizeof b);
    b += a;
    std::memcpy(to.data() + at, &b, sizeof b);
  }
}

Bytes copied(const void* from, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(from);
  return {begin, begin + bytes};
}

}  // namespace

struct ncclComm {
  std::shared_ptr<World> world;
  int rank = 0;
  std::uint64_t sums = 0;
  std::vector<MakeCall> group;
  std::vector<Call> waiting;  ///< of the device
  cudaStream_t stream = nullptr;
  bool connected = false;  ///< by a first group that was not captured
  bool stuck = false;      ///< waits for a rank that is gone
};

namespace {

/// Adds a call to the thread's group, in which all calls are on one stream.
ncclResult_t add_call(ncclComm_t comm, cudaStream_t stream, MakeCall call) {
  if (depth == 0 || comm == nullptr) return ncclInvalidUsage;
  if (of_group != nullptr && (of_group != comm || comm->stream != stream)) return ncclInvalidUsage;
  of_group = comm;
  comm->stream = stream;
  comm->group.push_back(std::move(call));
  return ncclSuccess;
}

/// Goes on with the calls of the device; returns whether all are done.
bool progress(ncclComm& comm) {
  std::erase_if(comm.waiting, [](Call& call) { return call(); });  // none waits for another
  return comm.waiting.empty();
}

/// A group in a graph that was launched, which waits for its partners. Where one is gone the group,
/// and those after it, are never done, as far as the host can see.
void replay(ncclComm& comm, const std::vector<MakeCall>& group) {
  if (comm.stuck) return;
  for (const MakeCall& make : group) comm.waiting.push_back(make());
  while (!progress(comm) && !comm.stuck) std::this_thread::yield();
}

/// Returns what makes calls that all do the same.
MakeCall in_turn(Call call) {
  return [call = std::move(call)] { return call; };
}

bool is_partner(const ncclComm_t comm, int partner) {
  return comm != nullptr && partner >= 0 && partner < comm->world->size && partner != comm->rank;
}

}  // namespace

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static std::uint64_t next = 0;
  const std::lock_guard lock(worlds_mutex);
  *id = {};
  const std::string text = "simulated " + std::to_string(next++);
  std::memcpy(id->internal, text.data(), text.size());
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  if (rank < 0 || rank >= size || config->blocking != 0) return ncclInvalidArgument;
  const std::lock_guard lock(worlds_mutex);
  std::weak_ptr<World>& known = worlds()[std::string(id.internal, sizeof id.internal)];
  std::shared_ptr<World> world = known.lock();
  if (world == nullptr) known = world = std::make_shared<World>();
  world->size = size;
  *comm = new ncclComm{.world = std::move(world), .rank = rank, .group = {}, .waiting = {}};
  return ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state) {
  *state = progress(*comm) ? ncclSuccess : ncclInProgress;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  ++depth;
  of_group = nullptr;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (depth == 0 || of_group == nullptr) return ncclInvalidUsage;
  --depth;
  ncclComm* comm = std::exchange(of_group, nullptr);
  const std::vector<MakeCall> group = std::exchange(comm->group, {});
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(comm->stream, &capture) != cudaSuccess) return ncclSystemError;
  if (capture != cudaStreamCaptureStatusNone) {
    if (!comm->connected) return ncclSystemError;  // which allocates
    const cudaError_t added =
        linnet::cuda::sim::enqueue(comm->stream, "NCCL", cudaGraphNodeTypeKernel,
                                   [comm, group] { replay(*comm, group); });
    return added == cudaSuccess ? ncclSuccess : ncclSystemError;
  }
  comm->connected = true;
  // The work before it, which a real device would do first.
  if (cudaStreamSynchronize(comm->stream) != cudaSuccess) return ncclSystemError;
  for (const MakeCall& make : group) comm->waiting.push_back(make());
  return progress(*comm) ? ncclSuccess : ncclInProgress;
}

ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int partner,
                      ncclComm_t comm, cudaStream_t stream) {
  if (!is_partner(comm, partner)) return ncclInvalidArgument;
  const std::size_t bytes = count * element_bytes(type);
  return add_call(comm, stream, in_turn([=] {
                    const std::lock_guard lock(comm->world->mutex);
                    comm->world->messages[{comm->rank, partner}].push_back(copied(from, bytes));
                    return true;
                  }));
}

ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int partner,
                      ncclComm_t comm, cudaStream_t stream) {
  if (!is_partner(comm, partner)) return ncclInvalidArgument;
  const std::size_t bytes = count * element_bytes(type);
  return add_call(comm, stream, in_turn([=] {
                    const std::lock_guard lock(comm->world->mutex);
                    std::deque<Bytes>& queue = comm->world->messages[{partner, comm->rank}];
                    if (queue.empty() && comm->world->gone.contains(partner)) comm->stuck = true;
                    if (queue.empty() || queue.front().size() != bytes) return false;
                    std::memcpy(to, queue.front().data(), bytes);
                    queue.pop_front();
                    return true;
                  }));
}

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t /*op*/, ncclComm_t comm, cudaStream_t stream) {
  if (comm == nullptr || type == ncclUint8) return ncclInvalidArgument;
  const std::size_t bytes = count * element_bytes(type);
  const auto sum = [=](std::uint64_t number, bool& sent) {
    World& world = *comm->world;
    const std::lock_guard lock(world.mutex);
    std::map<int, Bytes>& parts = world.sums[number];
    if (!sent) parts[comm->rank] = copied(from, bytes);
    sent = true;
    if (parts.size() < static_cast<std::size_t>(world.size)) {
      for (const int rank : world.gone) comm->stuck |= !parts.contains(rank);
      return false;
    }
    Bytes total = parts.rbegin()->second;  // in an order of its own: the last rank comes first
    for (auto part = std::next(parts.rbegin()); part != parts.rend(); ++part) {
      type == ncclFloat32 ? add<float>(part->second, total) : add<double>(part->second, total);
    }
    std::memcpy(to, total.data(), bytes);
    if (++world.taken[number] == world.size) {
      world.sums.erase(number);
      world.taken.erase(number);
    }
    return true;
  };
  return add_call(comm, stream, [=] {
    return [sum, number = comm->sums++, sent = false]() mutable { return sum(number, sent); };
  });
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  {
    const std::lock_guard lock(comm->world->mutex);
    comm->world->gone.insert(comm->rank);
  }
  delete comm;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t status) {
  return status == ncclSuccess ? "no error" : "simulated error";
}

namespace linnet::cuda {

const NcclLibrary* nccl_library() {
  static const NcclLibrary library{ncclGetUniqueId,   ncclCommInitRankConfig, ncclCommGetAsyncError,
                                   ncclGroupStart,    ncclGroupEnd,           ncclSend,
                                   ncclRecv,          ncclAllReduce,          ncclCommAbort,
                                   ncclGetErrorString};
  return &library;
}

}  // namespace linnet::cuda
