// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "plan/branches.h"

namespace linnet {

/// Describes where a value lies: bytes [offset, offset + bytes) of its storage. Values of one root
/// share memory (views, in-place results); the root is the first of them.
struct Placement {
  Storage storage = Storage::arena;
  std::size_t offset = 0;
  std::size_t bytes = 0;
  int root = -1;
};

/// Memory that a kernel wants for itself while it runs, in the arena.
struct Workspace {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

/// Nodes [first, last] of which some run together, block by block of the batch, and the others
/// after them: nothing of one's memory may be another's.
struct Together {
  std::size_t first = 0;
  std::size_t last = 0;
  bool has(std::size_t node) const { return first <= node && node <= last; }
};

/// All memory that `node` touches is nobody else's up to the end of node `last`, and its workspace
/// nobody else's from the begin of node `first` on.
struct Kept {
  std::size_t node = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

struct PlanOptions {
  bool reuse = true;     ///< values that never live together may share memory
  bool in_place = true;  ///< results may take over the memory of a dying operand
  /// Whoever runs the program says when weights that it does not write have changed
  /// (Program::weights_changed), so that kernels may keep what they derive from them.
  bool fixed_weights = false;
  /// Nodes that compute sample by sample may run in chains (on a CPU).
  bool chains = true;
  /// Nodes that need nothing of each other may share stages (on a CPU).
  bool shared_stages = true;
  /// What the backend runs so; in their order, without a node in two of them.
  std::vector<Together> together = {};
  /// Nodes beside which others may run.
  std::vector<Kept> kept = {};
  /// Bytes that a value is given at least, by its id, where a kernel keeps more in its result than
  /// the type says, for another kernel to read. May be shorter than the values are many.
  std::vector<std::size_t> room = {};
  /// Whoever runs the program can run two branches side by side (find_branches).
  bool branches = false;
};

/// A graph with every address decided. Immutable once made.
struct Plan {
  Graph graph;
  std::vector<Placement> values;          ///< by value id
  std::vector<Workspace> workspaces;      ///< by node index
  std::vector<std::string> engines = {};  ///< by node index, as the backend says; for dumps
  std::vector<Together> together = {};    ///< PlanOptions::together
  std::vector<std::string> chains = {};   ///< by node index: what it runs together with; for dumps
  Branches branches = {};                 ///< one, unless PlanOptions say otherwise
  std::array<std::size_t, kStorages> bytes{};  ///< needed of each storage (external: 0)
  std::size_t unshared_bytes = 0;              ///< the arena if nothing were shared
  std::size_t running = 0;                     ///< operators that run
  Cost cost;                                   ///< of all of them

  /// Views don't run: they are another name for memory.
  bool runs(std::size_t node) const;
  /// Arena, parameters, gradients, optimizer state, constants and other state together.
  std::size_t total_bytes() const;
};

using WorkspaceQuery = std::function<std::size_t(const Node& node)>;

/// Decides liveness, aliases and offsets. `workspace` tells how many bytes a node's kernel wants.
Plan make_plan(Graph graph, const WorkspaceQuery& workspace, const PlanOptions& options = {});

/// Throws InternalError if two values that live at the same time overlap without being aliases, a
/// value is read that nothing has written, or nodes of two branches that may run at the same time
/// touch the same memory, and not only read it. Operands of nodes that run together live all at the
/// same time.
void verify_plan(const Plan& plan);

/// Returns one node a line with the offset and size of every operand and its cost, then the sums.
std::string dump(const Plan& plan);

}  // namespace linnet
