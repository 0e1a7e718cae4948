// SPDX-License-Identifier: Apache-2.0
// Streams and events: work runs when it is issued, so that nothing is ever waited for.
#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "cuda_sim/machine.h"

namespace sim = linnet::cuda::sim;
using sim::answer;
using sim::machine;

namespace {

std::chrono::steady_clock::time_point device_time() {
  const std::chrono::duration<double> pretended(machine().device.pretended_seconds);
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(pretended);
}

bool is_event(cudaEvent_t event) { return machine().events.contains(event); }

void append_missing(std::vector<CUgraphNode_st*>& to, const std::vector<CUgraphNode_st*>& from) {
  for (CUgraphNode_st* node : from) {
    if (std::find(to.begin(), to.end(), node) == to.end()) to.push_back(node);
  }
}

cudaError_t spoil(sim::Capture& capture, cudaError_t status) {
  capture.invalid = true;
  return status;
}

/// Waiting for a stream or event: never while something captures.
cudaError_t wait_on(cudaStream_t stream) {
  const std::lock_guard lock(machine().mutex);
  if (const auto status = sim::device_status(); status != cudaSuccess) return status;
  if (!sim::is_stream(stream)) return cudaErrorInvalidResourceHandle;
  if (const auto capture = sim::capture_of(stream)) {
    return spoil(*capture, cudaErrorStreamCaptureUnsupported);
  }
  return sim::refuse_in_capture();
}

cudaError_t wait_on(cudaEvent_t event) {
  CUstream_st* stream = nullptr;
  std::uint64_t work = 0;
  {
    const std::lock_guard lock(machine().mutex);
    if (!is_event(event)) return cudaErrorInvalidResourceHandle;
    if (event->capture != nullptr) return spoil(*event->capture, cudaErrorCapturedEvent);
    if (const auto status = sim::refuse_in_capture(); status != cudaSuccess) return status;
    const bool alive =
        event->stream == &machine().legacy || machine().streams.contains(event->stream);
    if (event->stream == nullptr || !alive) return cudaSuccess;
    stream = event->stream;
    work = event->work;
  }
  sim::finish(*stream, work);
  return cudaSuccess;
}

}  // namespace

bool sim::is_stream(cudaStream_t stream) {
  const std::lock_guard lock(machine().mutex);
  return stream == nullptr || machine().streams.contains(stream);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (const auto status = sim::device_status(); status != cudaSuccess) return answer(status);
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return answer(cudaSuccess);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int /*priority*/) {
  const std::lock_guard lock(machine().mutex);
  if (const auto status = sim::device_status(); status != cudaSuccess) return answer(status);
  if (stream == nullptr || flags > cudaStreamNonBlocking) return answer(cudaErrorInvalidValue);
  auto made = std::make_unique<CUstream_st>();
  made->device = sim::current_device();
  made->blocking = flags != cudaStreamNonBlocking;
  machine().streams.insert(made.get());
  *stream = made.release();
  return answer(cudaSuccess);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream != nullptr && sim::is_stream(stream) && machine().device.lazy) sim::finish(stream);
  const std::lock_guard lock(machine().mutex);
  if (machine().streams.erase(stream) == 0) return answer(cudaErrorInvalidResourceHandle);
  if (const auto capture = stream->capture) {
    capture->invalid = true;
    capture->streams.erase(stream);
    if (capture->origin == stream) {  // nobody can end it any more
      sim::end_capture(capture);
      if (capture->owns_graph) sim::destroy_graph(capture->graph);
    }
  }
  delete stream;
  return answer(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (const auto status = wait_on(stream); status != cudaSuccess) return answer(status);
  sim::finish(stream);
  sim::count_wait();
  return answer(cudaSuccess);
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (const auto status = wait_on(stream); status != cudaSuccess) return answer(status);
  sim::finish(stream);
  const std::lock_guard lock(machine().mutex);
  ++machine().counters.queries;
  return answer(cudaSuccess);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  if (const auto status = sim::device_status(); status != cudaSuccess) return answer(status);
  if (!sim::is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
  if (function == nullptr) return answer(cudaErrorInvalidValue);
  return answer(sim::enqueue(stream, "a host function", cudaGraphNodeTypeHost, [=] {
    {
      const std::lock_guard lock(machine().mutex);
      ++machine().counters.host_functions;
    }
    function(data);
  }));
}

// ---- events

namespace {

/// As CUDA wants it of an event and the stream that records it.
bool of_one_device(cudaEvent_t event, cudaStream_t stream) {
  return event->device == (stream == nullptr ? sim::current_device() : stream->device);
}

}  // namespace

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  const std::lock_guard lock(machine().mutex);
  if (const auto status = sim::device_status(); status != cudaSuccess) return answer(status);
  if (event == nullptr || flags > 3) return answer(cudaErrorInvalidValue);
  auto made = std::make_unique<CUevent_st>();
  made->device = sim::current_device();
  made->timing = (flags & cudaEventDisableTiming) == 0;
  machine().events.insert(made.get());
  *event = made.release();
  return answer(cudaSuccess);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const std::lock_guard lock(machine().mutex);
  if (machine().events.erase(event) == 0) return answer(cudaErrorInvalidResourceHandle);
  delete event;
  return answer(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const std::lock_guard lock(machine().mutex);
  if (!is_event(event) || !sim::is_stream(stream) || !of_one_device(event, stream)) {
    return answer(cudaErrorInvalidResourceHandle);
  }
  const auto capture = sim::capture_of(stream);
  if (capture != nullptr && capture->invalid) return answer(cudaErrorStreamCaptureInvalidated);
  event->recorded = true;
  event->capture = capture;
  event->tail = capture == nullptr ? std::vector<CUgraphNode_st*>{} : stream->tail;
  event->time = device_time();
  CUstream_st& state = stream == nullptr ? machine().legacy : *stream;
  event->stream = capture == nullptr ? &state : nullptr;
  event->work = state.issued;
  return answer(cudaSuccess);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  if (flags == cudaEventRecordDefault) return cudaEventRecord(event, stream);
  const std::lock_guard lock(machine().mutex);
  if (!is_event(event) || !sim::is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
  if (flags != cudaEventRecordExternal || sim::capture_of(stream) == nullptr) {
    return answer(cudaErrorInvalidValue);
  }
  if (!machine().device.event_nodes) return answer(cudaErrorNotSupported);
  return answer(sim::enqueue(stream, "an event", cudaGraphNodeTypeEventRecord, [event] {
    const std::lock_guard replay(machine().mutex);
    if (!is_event(event)) {
      throw std::runtime_error("[CUDA sim] a graph records an event that was destroyed");
    }
    event->recorded = true;
    event->capture = nullptr;
    event->tail.clear();
    event->time = device_time();
  }));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  const std::lock_guard lock(machine().mutex);
  if (!is_event(event) || !sim::is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
  if (flags > 1) return answer(cudaErrorInvalidValue);
  const auto capture = sim::capture_of(stream);
  const auto& captures = machine().captures;
  const bool in_capture = event->capture != nullptr && std::find(captures.begin(), captures.end(),
                                                                 event->capture) != captures.end();
  if (!in_capture) {
    // A graph can't wait for what is outside of it; an event that was never recorded is no work.
    if (capture == nullptr) sim::wait_for(stream, *event);
    if (capture == nullptr || !event->recorded) return answer(cudaSuccess);
    return answer(spoil(*capture, cudaErrorStreamCaptureIsolation));
  }
  if (event->capture->invalid) return answer(cudaErrorStreamCaptureInvalidated);
  if (stream == nullptr) return answer(spoil(*event->capture, cudaErrorStreamCaptureImplicit));
  if (capture != nullptr && capture != event->capture) {
    capture->invalid = true;
    return answer(spoil(*event->capture, cudaErrorStreamCaptureMerge));
  }
  if (capture == nullptr) {
    stream->capture = event->capture;
    stream->tail.clear();
    event->capture->streams.insert(stream);
  }
  append_missing(stream->tail, event->tail);
  return answer(cudaSuccess);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (const auto status = wait_on(event); status != cudaSuccess) return answer(status);
  sim::count_wait();
  return answer(cudaSuccess);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (const auto status = wait_on(event); status != cudaSuccess) return answer(status);
  const std::lock_guard lock(machine().mutex);
  ++machine().counters.queries;
  return answer(cudaSuccess);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  const std::lock_guard lock(machine().mutex);
  if (milliseconds == nullptr) return answer(cudaErrorInvalidValue);
  if (!is_event(start) || !is_event(end)) return answer(cudaErrorInvalidResourceHandle);
  if (start->capture != nullptr || end->capture != nullptr) return answer(cudaErrorCapturedEvent);
  if (!start->timing || !end->timing || !start->recorded || !end->recorded) {
    return answer(cudaErrorInvalidResourceHandle);
  }
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
  return answer(cudaSuccess);
}
