// SPDX-License-Identifier: Apache-2.0
// What a prediction costs on the simulated device, and what an exported tensor keeps there.
#include <dlpack/dlpack.h>
#include <linnet/dlpack.h>
#include <linnet/predictor.h>

#include <optional>

#include "simulated_model.h"
#include "small_trainings.h"

namespace linnet::testing {
namespace {

TEST(SimulatedPredictor, APreparedBatchIsOneLaunchWithoutAllocations) {
  const MachineGuard machine;
  Model model = affine(cuda_model(affine_network()));
  Predictor predictor(model);
  std::vector<float> out(4);
  predictor.predict(std::vector<float>{1, 2, 3, 4}, out);
  predictor.predict(std::vector<float>{1, 2}, std::span(out).first(2));
  cuda::sim::clear();
  for (int i = 0; i < 3; ++i) predictor.predict(std::vector<float>{1, 2, 3, 4}, out);
  predictor.predict(std::vector<float>{1, 2}, std::span(out).first(2));
  cuda::sim::Counters counters = cuda::sim::counters();
  EXPECT_EQ(counters.graph_launches, 4U);
  EXPECT_EQ(counters.allocations, 0U);
  EXPECT_EQ(counters.synchronizations, 8U);  // for what comes in and for what goes out
  cuda::sim::clear();
  for (int i = 0; i < 3; ++i) predictor.run(2);
  counters = cuda::sim::counters();
  EXPECT_EQ(counters.graph_launches, 3U);
  EXPECT_EQ(counters.allocations + counters.synchronizations + counters.host_to_device.count, 0U);
}

TEST(SimulatedPredictor, WaitsForALateDevice) {
  const MachineGuard machine;
  cuda::sim::device().lazy = true;
  Model model = affine(cuda_model(affine_network()));
  Predictor predictor(model);
  std::vector<float> out(4);
  predictor.predict(std::vector<float>{1, 2, -1, 0.5F}, out);
  EXPECT_EQ(out, (std::vector<float>{15, 1, 10, -3.5F}));
  predictor.predict(std::vector<float>{1, 1}, std::span(out).first(2));
  EXPECT_EQ(out, (std::vector<float>{13, 2, 10, -3.5F}));
}

TEST(SimulatedPredictor, AnExportedOutputAloneKeepsItsMemory) {
  const MachineGuard machine;
  std::optional<Model> model = affine(cuda_model(affine_network()));
  std::optional<Predictor> predictor(std::in_place, *model);
  predictor->run(2);
  DLManagedTensor* managed = output_to_dlpack(*predictor, 2);
  predictor.reset();
  model.reset();
  EXPECT_EQ(cuda::sim::allocated_bytes(), 256U);  // one allocation
  managed->deleter(managed);
  EXPECT_EQ(cuda::sim::allocated_bytes(), 0U);
}

}  // namespace
}  // namespace linnet::testing
