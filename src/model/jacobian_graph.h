// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/step_graph.h"

namespace linnet {

/// How one row of a Jacobian, the derivatives of one number by all weights that train, follows from
/// the results of a jacobian_step().
struct JacobianLayout {
  /// One term of the derivatives by a weight: of a dense layer's weights the product of `left`, the
  /// derivatives by its units, and `right`, its inputs.
  struct Term {
    enum class Kind : std::uint8_t {
      product,  ///< result `left` (N, units) times result `right` (N, features)
      row,      ///< result `left` (N, units) itself: a bias
      whole,    ///< result `left`, of the shape of the weight: of a batch of one sample
    };
    Kind kind = Kind::product;
    std::size_t first = 0;  ///< where the weight begins in the row
    std::size_t left = 0;
    std::size_t right = 0;
    std::int64_t units = 0;  ///< elements of `left` in a row
    std::int64_t features = 1;
  };
  /// A result of the graph, in external slot `slot`: a row of `width` f32 for each sample.
  struct Result {
    std::size_t slot = 0;
    std::int64_t width = 0;
  };
  /// A number of which there is a row: element `element` of target `target`.
  struct Row {
    std::size_t target = 0;
    std::int64_t element = 0;
    std::vector<Term> terms = {};
  };
  /// An input of the graph that says by what it is differentiated: (N, width) of zeros, with ones
  /// as element `element` of each sample.
  struct Seed {
    std::size_t slot = 0;
    std::int64_t width = 0;
    std::int64_t element = 0;
  };

  std::size_t unknowns = 0;     ///< elements of all weights that train
  bool one_sample = false;      ///< whether the layout holds at batch 1 alone
  std::vector<Result> results;  ///< that terms name
  std::vector<Result> outputs;  ///< of each target: what the network gives
  std::vector<Result> targets;  ///< and what it should give
  std::vector<Seed> seeds;
  std::vector<Row> rows;  ///< empty where no derivatives were asked for
};

/// A graph with its layout.
struct JacobianStep {
  Graph graph;
  JacobianLayout layout;
};

/// Returns the outputs that have targets, with the targets, and if `derivatives` what the Jacobian
/// of their elements by the weights that train is made of. Gathers in stored order. Dense layers
/// give rows of many samples at once; a network with weights of other layers takes one sample at a
/// time, and `batch` must be 1 then (JacobianLayout::one_sample). `trains`: by parameter.
JacobianStep jacobian_step(const NetworkDefinition& network, const StepData& data,
                           const std::vector<bool>& trains, bool derivatives, std::int64_t batch,
                           const Supports& supports);

}  // namespace linnet
