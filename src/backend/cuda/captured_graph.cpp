// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/captured_graph.h"

#include <vector>

namespace linnet::cuda {
namespace {

/// Ends a capture even if what was captured threw: the stream would stay unusable.
class CaptureScope {
 public:
  explicit CaptureScope(cudaStream_t stream) : stream_(stream) {}
  cudaGraph_t finish() {
    cudaGraph_t graph = nullptr;
    stream_open_ = false;
    check(cudaStreamEndCapture(stream_, &graph), "ending the capture of a step");
    return graph;
  }
  ~CaptureScope() {
    if (!stream_open_) return;
    cudaGraph_t graph = nullptr;
    static_cast<void>(cudaStreamEndCapture(stream_, &graph));
    if (graph != nullptr && owned_) static_cast<void>(cudaGraphDestroy(graph));
    static_cast<void>(cudaGetLastError());
  }
  CaptureScope(const CaptureScope&) = delete;
  CaptureScope& operator=(const CaptureScope&) = delete;
  /// The graph captured into belongs to somebody else.
  void not_owned() { owned_ = false; }

 private:
  cudaStream_t stream_;
  bool stream_open_ = true;
  bool owned_ = true;
};

// Other threads' calls don't disturb a capture.
constexpr cudaStreamCaptureMode kMode = cudaStreamCaptureModeThreadLocal;

}  // namespace

CapturedGraph::CapturedGraph(Graph graph) : graph_(std::move(graph)) {
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph_.get(), 0), "instantiating a captured graph");
  executable_ = Executable(executable);
}

CapturedGraph CapturedGraph::capture(cudaStream_t stream, const std::function<void()>& enqueue) {
  check(cudaStreamBeginCapture(stream, kMode), "capturing a step");
  CaptureScope scope(stream);
  enqueue();
  return CapturedGraph(Graph(scope.finish()));
}

CapturedGraph CapturedGraph::loops(
    cudaStream_t stream, std::size_t count, const std::function<void(Conditions)>& begin,
    const std::function<void(std::size_t, cudaGraphConditionalHandle)>& enqueue) {
  cudaGraph_t raw = nullptr;
  check(cudaGraphCreate(&raw, 0), "creating a graph");
  Graph graph(raw);
  const auto capture_to = [&](cudaGraph_t to, const auto& work) {
    check(cudaStreamBeginCaptureToGraph(stream, to, nullptr, nullptr, 0, kMode),
          "capturing a loop's body");
    CaptureScope scope(stream);
    scope.not_owned();
    work();
    scope.finish();
  };
  std::vector<cudaGraphConditionalHandle> conditions(count);
  for (cudaGraphConditionalHandle& condition : conditions) {
    check(cudaGraphConditionalHandleCreate(&condition, raw, 0, cudaGraphCondAssignDefault),
          "creating a loop's condition");
  }
  capture_to(raw, [&] { begin(conditions); });
  std::size_t one = 1;
  cudaGraphNode_t last = nullptr;
  check(cudaGraphGetNodes(raw, &last, &one), "reading a graph's nodes");
  for (std::size_t i = 0; i < count; ++i) {
    cudaGraphNodeParams parameters{};
    parameters.type = cudaGraphNodeTypeConditional;
    parameters.conditional.handle = conditions[i];
    parameters.conditional.type = cudaGraphCondTypeWhile;
    parameters.conditional.size = 1;
    cudaGraphNode_t node = nullptr;
    check(cudaGraphAddNode(&node, raw, &last, nullptr, 1, &parameters), "adding a loop to a graph");
    last = node;
    capture_to(parameters.conditional.phGraph_out[0], [&] { enqueue(i, conditions[i]); });
  }
  return CapturedGraph(std::move(graph));
}

void CapturedGraph::launch(cudaStream_t stream) const {
  check(cudaGraphLaunch(executable_.get(), stream), "launching captured steps");
}

}  // namespace linnet::cuda
