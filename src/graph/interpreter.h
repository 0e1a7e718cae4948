// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "graph/graph.h"

namespace linnet {

/// Runs a graph by the double-precision references: the truth that kernels are tested against.
class Interpreter {
 public:
  explicit Interpreter(const Graph& graph);

  /// Storage of any value; set the inputs before run(). Constants are filled.
  ReferenceTensor& operator[](Value value);
  void run(const StepInfo& step = {});

 private:
  const Graph& graph_;
  std::vector<ReferenceTensor> tensors_;
};

}  // namespace linnet
