// SPDX-License-Identifier: Apache-2.0
// What one run may leave to luck, again and again: tickets of last blocks beside a busy branch,
// stacked recurrent layers in captured steps; and what a node of a graph costs.
#include <cstdio>

#include "../end_to_end/fixtures.h"
#include "backend/cuda/captured_graph.h"
#include "backend/cuda/device.h"
#include "backend/cuda/loop_state.h"
#include "repetitions.h"
#include "small_trainings.h"

namespace linnet::testing {
namespace {

class AThousandSteps : public OnDevice {
 protected:
  /// Trains twice in captured loops and once kernel by kernel, in two steps an epoch.
  void expect_equal_bits(const Network& network, std::int64_t batch) const {
    const Splits digits = datasets::digits(2 * batch, 0, 3);
    const TrainingOptions options{.epochs = repetitions() / 2,
                                  .batch = batch,
                                  .optimizer = Adam{.learning_rate = 1e-4}};
    const Trained first = trained(model(network, {}, 5), {.train = digits.train}, options);
    for (const std::int64_t steps : {CudaOptions::kWholeEpoch, std::int64_t{0}}) {
      reorder_threads(static_cast<std::uint64_t>(7 + steps));
      EXPECT_EQ(trained(model(network, {.graph_steps = steps}, 5), {.train = digits.train},
                        options),
                first)
          << steps << " steps a launch";
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, AThousandSteps, ::testing::ValuesIn(tested_engines()),
                         engines_name);

/// Sums of batch norms, biases and losses, of several blocks each, on both branches.
TEST_P(AThousandSteps, OfSumsByLastBlocksBesideABusyBranch) {
  const Conv2d conv{.filters = 12, .padding = Padding2d::same()};
  expect_equal_bits(Network({28, 28, 1}, {Rescale{}, conv, BatchNorm{}, ReLU{}, MaxPool2d{2}, conv,
                                          BatchNorm{}, ReLU{}, MaxPool2d{2}, Flatten{},
                                          Dense{.units = 40}, Tanh{}, Dense{.units = 10}}),
                    repetitions() >= 1000 ? 64 : 4);
}

TEST_P(AThousandSteps, OfTwoStackedRecurrentLayers) {
  expect_equal_bits(Network({28, 28, 1}, {Rescale{}, Reshape{{28, 28}},
                                          GRU{.units = 12, .return_sequences = true},
                                          GRU{.units = 8}, Dense{.units = 10}}),
                    repetitions() >= 1000 ? 64 : 4);
}

TEST(NodeCost, OfAChainInOneGraph) {
  const MachineGuard machine;
  const auto device = std::make_shared<cuda::Device>(cuda::find_device(""));
  device->activate();
  const auto memory = cuda::allocate(device, sizeof(cuda::LoopState));
  auto* state = reinterpret_cast<cuda::LoopState*>(memory->data());
  const int nodes = repetitions();
  const auto graph = cuda::CapturedGraph::capture(device->stream(), [&] {
    for (int i = 0; i < nodes; ++i) cuda::advance_loop(device->stream(), {.loop = state});
  });
  graph.launch(device->stream());  // the first launch uploads it
  float ms = 0;
  for (int round = 0; round < 5; ++round) {
    ms = cuda::Stopwatch(device->stream()).milliseconds("a chain", [&] {
      graph.launch(device->stream());
    });
  }
  cuda::LoopState found;
  copy(&found, state, sizeof found);
  EXPECT_EQ(found.step.step, 6U * static_cast<std::uint64_t>(nodes));
  std::printf("node cost: %.3f us of %d in a chain\n", 1e3 * static_cast<double>(ms) / nodes,
              nodes);
}

}  // namespace
}  // namespace linnet::testing
