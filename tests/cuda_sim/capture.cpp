// SPDX-License-Identifier: Apache-2.0
// Capture: work of a stream, and of the streams that wait for its events, becomes a graph.
#include <algorithm>
#include <utility>

#include "cuda_sim/machine.h"

namespace sim = linnet::cuda::sim;
using sim::answer;
using sim::machine;

namespace {

/// Returns whether `node` is in `tail` or before something that is.
bool reaches(const std::vector<CUgraphNode_st*>& tail, const CUgraphNode_st* node) {
  std::vector<CUgraphNode_st*> open = tail;
  std::set<CUgraphNode_st*> seen;
  while (!open.empty()) {
    CUgraphNode_st* next = open.back();
    open.pop_back();
    if (next == node) return true;
    if (!seen.insert(next).second) continue;
    open.insert(open.end(), next->dependencies.begin(), next->dependencies.end());
  }
  return false;
}

bool all_joined(const sim::Capture& capture) {
  for (const CUstream_st* stream : capture.streams) {
    for (const CUgraphNode_st* node : stream->tail) {
      if (!reaches(capture.origin->tail, node)) return false;
    }
  }
  return true;
}

bool in_graph(const CUgraph_st* graph, const CUgraphNode_st* node) {
  return std::any_of(graph->nodes.begin(), graph->nodes.end(),
                     [&](const auto& own) { return own.get() == node; });
}

cudaError_t begin(cudaStream_t stream, CUgraph_st* graph, const cudaGraphNode_t* dependencies,
                  std::size_t count, cudaStreamCaptureMode mode) {
  if (const auto status = sim::device_status(); status != cudaSuccess) return status;
  if (!sim::is_stream(stream)) return cudaErrorInvalidResourceHandle;
  if (stream == nullptr) return cudaErrorStreamCaptureUnsupported;  // the legacy stream can't
  if (stream->capture != nullptr) {
    stream->capture->invalid = true;
    return cudaErrorIllegalState;
  }
  auto capture = std::make_shared<sim::Capture>();
  capture->id = machine().next_capture++;
  capture->owns_graph = graph == nullptr;
  capture->graph = graph;
  if (graph == nullptr) {
    if (const auto status = cudaGraphCreate(&capture->graph, 0); status != cudaSuccess) {
      return status;
    }
  }
  capture->origin = stream;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->streams.insert(stream);
  stream->capture = capture;
  stream->tail.assign(dependencies, dependencies + count);
  machine().captures.push_back(std::move(capture));
  return cudaSuccess;
}

}  // namespace

std::shared_ptr<sim::Capture> sim::capture_of(cudaStream_t stream) {
  return stream == nullptr ? nullptr : stream->capture;
}

cudaError_t sim::refuse_in_capture() {
  const std::lock_guard lock(machine().mutex);
  bool refused = false;
  for (const auto& capture : machine().captures) {
    const bool watched = capture->mode == cudaStreamCaptureModeGlobal ||
                         (capture->mode == cudaStreamCaptureModeThreadLocal &&
                          capture->thread == std::this_thread::get_id());
    if (!watched) continue;
    capture->invalid = true;
    refused = true;
  }
  return refused ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

CUgraphNode_st& sim::add_captured(CUstream_st& stream, cudaGraphNodeType type) {
  auto node = std::make_shared<CUgraphNode_st>();
  node->type = type;
  node->dependencies = stream.tail;
  stream.tail.assign(1, node.get());
  stream.capture->graph->nodes.push_back(node);
  return *node;
}

void sim::end_capture(const std::shared_ptr<Capture>& capture) {
  for (CUstream_st* stream : capture->streams) {
    stream->capture = nullptr;
    stream->tail.clear();
  }
  std::erase(machine().captures, capture);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  const std::lock_guard lock(machine().mutex);
  return answer(begin(stream, nullptr, nullptr, 0, mode));
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData* /*edges*/, std::size_t count,
                                          cudaStreamCaptureMode mode) {
  const std::lock_guard lock(machine().mutex);
  if (!machine().graphs.contains(graph)) return answer(cudaErrorInvalidValue);
  for (std::size_t i = 0; i < count; ++i) {
    if (!in_graph(graph, dependencies[i])) return answer(cudaErrorInvalidValue);
  }
  return answer(begin(stream, graph, dependencies, count, mode));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const std::lock_guard lock(machine().mutex);
  if (!sim::is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
  if (graph == nullptr) return answer(cudaErrorInvalidValue);
  const auto capture = sim::capture_of(stream);
  if (capture == nullptr) return answer(cudaErrorIllegalState);
  if (capture->origin != stream) {
    capture->invalid = true;
    return answer(cudaErrorStreamCaptureUnmatched);
  }
  if (capture->mode != cudaStreamCaptureModeRelaxed &&
      capture->thread != std::this_thread::get_id()) {
    return answer(cudaErrorStreamCaptureWrongThread);
  }
  const cudaError_t status = capture->invalid        ? cudaErrorStreamCaptureInvalidated
                             : !all_joined(*capture) ? cudaErrorStreamCaptureUnjoined
                                                     : cudaSuccess;
  sim::end_capture(capture);
  *graph = status == cudaSuccess ? capture->graph : nullptr;
  if (status != cudaSuccess && capture->owns_graph) sim::destroy_graph(capture->graph);
  return answer(status);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamGetCaptureInfo(stream, status);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, std::size_t* count) {
  const std::lock_guard lock(machine().mutex);
  if (!sim::is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
  if (status == nullptr) return answer(cudaErrorInvalidValue);
  const auto capture = sim::capture_of(stream);
  *status = capture == nullptr ? cudaStreamCaptureStatusNone
            : capture->invalid ? cudaStreamCaptureStatusInvalidated
                               : cudaStreamCaptureStatusActive;
  if (*status != cudaStreamCaptureStatusActive) return answer(cudaSuccess);
  if (id != nullptr) *id = capture->id;
  if (graph != nullptr) *graph = capture->graph;
  if (dependencies != nullptr) *dependencies = stream->tail.data();
  if (edges != nullptr) *edges = nullptr;  // all of the plain kind
  if (count != nullptr) *count = stream->tail.size();
  return answer(cudaSuccess);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData* /*edges*/,
                                                std::size_t count, unsigned flags) {
  const std::lock_guard lock(machine().mutex);
  if (!sim::is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
  const auto capture = sim::capture_of(stream);
  if (capture == nullptr) return answer(cudaErrorIllegalState);
  if (capture->invalid) return answer(cudaErrorStreamCaptureInvalidated);
  for (std::size_t i = 0; i < count; ++i) {
    if (!in_graph(capture->graph, dependencies[i])) return answer(cudaErrorInvalidValue);
  }
  if (flags == cudaStreamSetCaptureDependencies) stream->tail.clear();
  stream->tail.insert(stream->tail.end(), dependencies, dependencies + count);
  return answer(cudaSuccess);
}
