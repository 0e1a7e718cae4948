// SPDX-License-Identifier: Apache-2.0
// What a prediction costs on the simulated device, and what an exported tensor keeps there.
#include <dlpack/dlpack.h>
#include <linnet/predictor.h>

#include <optional>

#include "simulated_model.h"
#include "small_trainings.h"

namespace linnet::testing {
namespace {

/// Samples of two numbers, to the first of `out`.
void predict(const Predictor& predictor, const std::vector<float>& in, std::span<float> out) {
  const auto count = static_cast<std::int64_t>(in.size() / 2);
  predictor.predict(Tensor::borrow(in, {count, 2}),
                    Tensor::borrow(out.first(in.size()), {count, 2}));
}

TEST(SimulatedPredictor, APreparedBatchIsOneLaunchWithoutAllocations) {
  const MachineGuard machine;
  Model model = affine(cuda_model(affine_network()));
  Predictor predictor(model);
  std::vector<float> out(4);
  predict(predictor, {1, 2, 3, 4}, out);
  predict(predictor, {1, 2}, out);
  cuda::sim::clear();
  for (int i = 0; i < 3; ++i) predict(predictor, {1, 2, 3, 4}, out);
  predict(predictor, {1, 2}, out);
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
  predict(predictor, {1, 2, -1, 0.5F}, out);
  EXPECT_EQ(out, (std::vector<float>{15, 1, 10, -3.5F}));
  predict(predictor, {1, 1}, out);
  EXPECT_EQ(out, (std::vector<float>{13, 2, 10, -3.5F}));
}

TEST(SimulatedPredictor, AnExportedOutputAloneKeepsItsMemory) {
  const MachineGuard machine;
  std::optional<Model> model = affine(cuda_model(affine_network()));
  std::optional<Predictor> predictor(std::in_place, *model);
  predictor->run(2);
  DLManagedTensor* managed = to_dlpack(predictor->output(2));
  predictor.reset();
  model.reset();
  EXPECT_EQ(cuda::sim::allocated_bytes(), 256U);  // one allocation
  managed->deleter(managed);
  EXPECT_EQ(cuda::sim::allocated_bytes(), 0U);
}

TEST(SimulatedPredictor, AnExportedOutputIsDone) {
  const MachineGuard machine;
  cuda::sim::device().lazy = true;
  Model model = affine(cuda_model(affine_network()));
  Predictor predictor(model);
  const std::vector<float> in{1, 2};
  copy(predictor.input(1).writable_bytes().data(), in.data(), sizeof(float) * 2);
  predictor.run(1);
  DLManagedTensor* managed = to_dlpack(predictor.output(1));
  const auto* out = static_cast<const float*>(managed->dl_tensor.data);
  EXPECT_EQ(std::vector<float>(out, out + 2), (std::vector<float>{15, 1}));
  managed->deleter(managed);
}

TEST(SimulatedPredictor, ACopyOfAnOutputWaitsForWhatWasEnqueued) {
  const MachineGuard machine;
  cuda::sim::device().lazy = true;
  std::optional<Model> model = affine(cuda_model(affine_network()));
  std::optional<Predictor> predictor(std::in_place, *model);
  const std::vector<float> in{1, 2};
  copy(predictor->input(1).writable_bytes().data(), in.data(), sizeof(float) * 2);
  predictor->run(1);
  const Tensor output = predictor->output(1);
  predictor.reset();
  model.reset();
  EXPECT_TRUE(same_bits(output.to_host(), Tensor(std::vector<float>{15, 1}, {1, 2})));
}

}  // namespace
}  // namespace linnet::testing
