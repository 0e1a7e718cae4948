// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/error.h>
#include <linnet/export.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace linnet {
class RankGroup;
}

LINNET_API_BEGIN
namespace linnet {

/// Reports that another rank of the job ended, stopped or was cut off, or ended with an error of
/// its own. The sentence names the rank and what was computed together. This process can go on, but
/// not with these ranks.
class RankError : public Error {
 public:
  /// Makes an error of this sentence about a rank.
  RankError(int rank, const std::string& what) : Error(what), rank(rank) {}
  int rank;  ///< the rank that was lost
};

/// Says what carries bytes between ranks.
enum class RankEngine : std::uint8_t {
  automatic,  ///< Gloo where RanksOptions::master_address is set, else MPI
  mpi,        ///< processes that mpirun or srun has started, which find each other
  gloo,       ///< TCP; rank, size and the address of rank 0 must be given
};
/// Returns the engine's name: "automatic", "mpi" or "gloo".
std::string_view to_string(RankEngine engine);

/// Says in which order the gradients of the ranks are added.
enum class RankReduce : std::uint8_t {
  tree,  ///< a fixed binary tree: the result does not depend on the number of ranks
  fast,  ///< the engine's own all-reduce, whose order is its own: a training repeats to the last
         ///< bits at best on the same number of ranks
};
/// Returns the order's name: "tree" or "fast".
std::string_view to_string(RankReduce reduce);

/// Says which processes train together. The command reads these values from torchrun's environment
/// variables; the library reads no environment.
struct RanksOptions {
  RankEngine engine = RankEngine::automatic;  ///< what carries the bytes
  int rank = 0;        ///< this process, from 0 (RANK); MPI knows it without this field
  int size = 1;        ///< number of processes, a power of two (WORLD_SIZE); MPI knows it
  int local_rank = 0;  ///< this process among those of its machine, from 0 (LOCAL_RANK)
  std::string master_address = {};       ///< host name or address of rank 0 (MASTER_ADDR)
  std::uint16_t master_port = 0;         ///< TCP port on which rank 0 listens (MASTER_PORT)
  RankReduce reduce = RankReduce::tree;  ///< order in which gradients are added
  double deadline_seconds = 10;          ///< a rank that is silent for so long is lost; at least 1
  double start_seconds = 120;            ///< how long the ranks wait for each other at the start
  std::string library = {};  ///< path of the engine's plug-in; empty: beside liblinnet.so
};

/// Holds the processes ("ranks") that train one model together: TrainerOptions::ranks. Copies are
/// handles of the same job. The default is this process alone.
///
/// All ranks must make the same calls in the same order. A rank that is killed, stopped or cut off
/// makes the calls of all others throw RankError within RanksOptions::deadline_seconds.
class Ranks {
 public:
  /// Makes a handle of this process alone, which needs no engine.
  Ranks() = default;
  /// Meets the other ranks, and waits for them. Once per process with MPI. Throws Error for options
  /// out of range, for a number of ranks that is not a power of two, and where the engine's plug-in
  /// or its library is missing; RankError for ranks that do not come.
  static Ranks open(const RanksOptions& options);

  int rank() const;        ///< returns this process's number, from 0
  int size() const;        ///< returns the number of processes
  int local_rank() const;  ///< returns this process's number on its machine, from 0
  /// Returns what carries the bytes: "mpi", "gloo", or "none" for one process.
  std::string engine() const;
  /// Tells the other ranks why this one ends, so that they can say it. They throw RankError. A
  /// handle of one process does nothing.
  void leave(const std::string& reason) const;

 private:
  friend struct RankAccess;
  std::shared_ptr<RankGroup> group_;  // null: this process alone
};

}  // namespace linnet
LINNET_API_END
