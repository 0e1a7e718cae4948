// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "backend/cuda/cuda_api.h"
#include "base/check.h"
#include "runtime/launches.h"

namespace linnet::cuda {

/// Says where a node's work goes: to a stream of a device or, where only a plan is asked for, to a
/// list of what a stream would be given. So the code that launches is also what is counted.
class Queue {
 public:
  Queue() = default;
  Queue(cudaStream_t stream) : stream_(stream) {}  // NOLINT(google-explicit-constructor)
  explicit Queue(std::vector<PlannedLaunch>& list) : list_(&list) {}

  /// Returns whether `work` goes to a list; then it is there now, and nothing else is to be done.
  bool lists(const PlannedLaunch& work) const {
    if (list_ != nullptr) list_->push_back(work);
    return list_ != nullptr;
  }
  /// Returns the stream. Throws InternalError where there is only a list.
  cudaStream_t stream() const {
    LINNET_ASSERT(list_ == nullptr);
    return stream_;
  }

 private:
  cudaStream_t stream_ = nullptr;
  std::vector<PlannedLaunch>* list_ = nullptr;
};

}  // namespace linnet::cuda
