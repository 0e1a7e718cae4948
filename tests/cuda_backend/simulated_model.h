// SPDX-License-Identifier: Apache-2.0
#pragma once

// For *_simulated_test.cpp alone: what looks into the simulator.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda_model.h"
#include "cuda_sim/sim.h"
#include "model/model_state.h"

namespace linnet::testing {

/// A model on one of several devices; which: its index.
Model model_on(const std::string& which, Network network, const CudaOptions& options = {},
               std::uint64_t seed = 0, Precision precision = Precision::fp32);

/// Returns the plan of a network's training step on the simulated device.
Plan plan_of(const Network& network, std::int64_t batch, std::vector<std::string> disabled);

/// Trains, and compares History::planned_bytes with what the device has allocated meanwhile.
inline void expect_planned_is_allocated(Model& model, const Dataset& data,
                                        const TrainingOptions& options) {
  struct Watch : Callback {
    std::size_t bytes = 0;
    void on_progress(const Progress&) override { bytes = cuda::sim::allocated_bytes(); }
  } watch;
  const std::size_t before = cuda::sim::allocated_bytes();
  const std::size_t own = model.state().parameters->bytes() + model.state().statistics->bytes();
  const History history = train(model, data, options, nullptr, &watch);
  const auto measured = static_cast<double>(watch.bytes - before + own);  // rounded up by CUDA
  EXPECT_NEAR(static_cast<double>(history.planned_bytes), measured, 0.02 * measured);
}

}  // namespace linnet::testing
