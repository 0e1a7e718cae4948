// SPDX-License-Identifier: Apache-2.0
// The simulated device, which has none of NVIDIA's libraries.
#include "backend/cuda/cuda_backend.h"
#include "cuda_sim/sim.h"
#include "model/model_state.h"
#include "model/step_graph.h"
#include "model/update_options.h"
#include "ops/cuda_kernels.h"
#include "repetitions.h"
#include "simulated_model.h"

namespace linnet::testing {

std::vector<Engines> tested_engines() { return {Engines::own}; }

int repetitions() { return 6; }

Model cuda_model(Network network, const CudaOptions& options, std::uint64_t seed,
                 Engines /*engines*/, Precision precision) {
  return model_on("", std::move(network), options, seed, precision);
}

Model model_on(const std::string& which, Network network, const CudaOptions& options,
               std::uint64_t seed, Precision precision) {
  cuda::Registry registry;
  cuda::register_cuda_kernels(registry);
  auto device = std::make_shared<cuda::Device>(cuda::find_device(which));
  return Model(
      make_state(std::move(network),
                 std::make_unique<cuda::CudaBackend>(std::move(registry), std::move(device),
                                                     options, cuda::Libraries{}, precision),
                 seed));
}

MachineGuard::MachineGuard() {
  cuda::sim::reset_device();
  cuda::sim::clear();
}
MachineGuard::~MachineGuard() { cuda::sim::reset_device(); }

std::size_t device_bytes() { return cuda::sim::allocated_bytes(); }

void reorder_threads(std::uint64_t seed) { cuda::sim::device().shuffle_seed = seed; }

Plan plan_of(const Network& network, std::int64_t batch, std::vector<std::string> disabled) {
  const MachineGuard machine;
  Model model = cuda_model(network);
  Backend& backend = *model.state().backend;
  Graph graph =
      training_step(network.definition(), assumed_data(network.definition(), Loss::automatic),
                    {.batch = batch,
                     .shuffle = true,
                     .optimizer = resolve(TrainingOptions{}, network.definition(), 1),
                     .disabled_passes = std::move(disabled)},
                    supports_of(backend));
  return backend.prepare(std::move(graph), {})->plan();
}

}  // namespace linnet::testing
