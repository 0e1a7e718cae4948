// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "graph/graph.h"
#include "runtime/backend.h"

namespace linnet {

/// Returns how many samples of a batch a thread should predict at once, from the first operator to
/// the last, so that what lies between operators stays in its cache; the batch itself where blocks
/// gain nothing. A power of two, which follows from the graph alone: results must not depend on a
/// machine. graph: prediction_step() of the batch.
std::int64_t prediction_block(const Graph& graph, std::int64_t batch);

/// A program that predicts a batch, or its blocks.
struct PredictionProgram {
  std::unique_ptr<Program> program;
  std::unique_ptr<Program> rest;  ///< of the samples after the last whole block; null: none
  std::int64_t block = 0;         ///< samples of `program`
  std::size_t lanes = 1;          ///< blocks that run at the same time, each in its own arena

  /// Returns the size of an arena, in which `rest` has room too.
  std::size_t arena_bytes() const;
};

/// Prepares what predicts a batch: in blocks where the device gains by them. graph_of(n): of n
/// samples.
PredictionProgram prepare_prediction(Backend& backend, std::int64_t batch, bool in_blocks,
                                     const std::function<Graph(std::int64_t)>& graph_of);

}  // namespace linnet
