// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cudnn.h>

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace linnet::cuda {

/// Describes how fake_cudnn_rnn.cpp behaves, and what it was asked; one for the program.
struct FakeRnn {
  std::vector<cudnnRNNAlgo_t> algorithms{CUDNN_RNN_ALGO_STANDARD};  ///< that it has
  bool in_order = false;         ///< the weights lie as Linnet's do, else backwards with gaps
  bool transposed = false;       ///< its matrices' strides are others
  bool fails = false;            ///< when it runs
  float error = 0;               ///< is added to every y
  bool drifts = false;           ///< by a bit more at every run
  std::size_t more_reserve = 0;  ///< bytes that it keeps beside what it needs
  double seconds = -1;  ///< that a forward computation pretends to take; below 0: the faster
  int launches = 0;
  /// Descriptors with kernels that have run.
  std::set<std::pair<const void*, std::string>> loaded = {};
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;  ///< of the last descriptor
};
FakeRnn& fake_rnn();

}  // namespace linnet::cuda
