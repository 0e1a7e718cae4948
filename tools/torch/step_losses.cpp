// SPDX-License-Identifier: Apache-2.0
// Trains mnist-cnn one step at a time and prints the loss of each: the half of the comparison in
// docs/notes/2026-11-21-loss-curves.md that Linnet computes.
#include <fmt/core.h>
#include <linnet/linnet.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <map>
#include <string>
#include <utility>

#include "base/check.h"
#include "networks/networks.h"
#include "ops/gather_batch/record_index.h"

namespace linnet {
namespace {

struct Arguments {
  std::string data;
  std::string optimizer = "adam";
  std::int64_t steps = 100;
  std::int64_t batch = 128;
  std::uint64_t seed = 0;
  int threads = 0;
  bool order = false;
  std::string initial;
  std::string trained;
};

// Everything not written here is Linnet's default, so that a default unlike PyTorch's is found.
const std::map<std::string, Optimizer> kOptimizers{
    {"adam", Adam{}},
    {"momentum", SGD{.learning_rate = 0.01, .momentum = 0.9}},
    {"nesterov", SGD{.learning_rate = 0.01, .momentum = 0.9, .nesterov = true}},
    {"adamw", AdamW{}},
    {"rmsprop", RMSprop{}}};

/// The records of epoch 1 in the order in which the steps see them, one a line.
void print_order(const Dataset& data, std::uint64_t seed) {
  const auto samples = static_cast<std::uint64_t>(data.size());
  const RecordIndex record({.seed = seed, .epoch = 1, .samples = samples}, true);
  for (std::int64_t i = 0; i < data.size(); ++i) fmt::print("{}\n", record(i));
}

/// Prints the loss of each of the first steps of epoch 1.
void print_losses(const Dataset& data, const Arguments& arguments) {
  Model model(workloads::mnist_cnn(),
              {.device = "cpu", .threads = arguments.threads, .seed = arguments.seed});
  if (!arguments.initial.empty()) model.save(arguments.initial);
  const std::int64_t epoch_steps = (data.size() + arguments.batch - 1) / arguments.batch;
  require(arguments.steps <= epoch_steps, "an epoch of '{}' has {} steps; got --steps {}",
          arguments.data, epoch_steps, arguments.steps);
  Objective objective;
  objective.optimizer = kOptimizers.at(arguments.optimizer);
  Trainer trainer(model, std::move(objective), {.seed = arguments.seed});
  for (const Batch& batch : trainer.batches(data, {.size = arguments.batch})) {
    if (trainer.steps() == static_cast<std::uint64_t>(arguments.steps)) break;
    fmt::print("{:.9g}\n", trainer.step(batch).loss());
  }
  if (!arguments.trained.empty()) model.save(arguments.trained);
}

int run(int argc, char** argv) {
  CLI::App app("Prints the loss of every training step of mnist-cnn");
  Arguments arguments;
  app.add_option("--data", arguments.data, "folder with the four MNIST files")->required();
  app.add_option("--optimizer", arguments.optimizer, "the update rule, with Linnet's defaults")
      ->check(CLI::IsMember(kOptimizers));
  app.add_option("--steps", arguments.steps, "training steps, within one epoch")
      ->check(CLI::PositiveNumber);
  app.add_option("--batch", arguments.batch, "samples in a step")->check(CLI::PositiveNumber);
  app.add_option("--seed", arguments.seed, "of the initial weights and of the shuffle");
  app.add_option("--threads", arguments.threads, "0: all processors");
  app.add_flag("--order", arguments.order, "print the records of epoch 1 in order instead");
  app.add_option("--initial", arguments.initial, "file for the weights before the first step");
  app.add_option("--trained", arguments.trained, "file for the weights after the last step");
  CLI11_PARSE(app, argc, argv);

  const Dataset data = load_dataset(arguments.data).train;
  if (arguments.order) {
    print_order(data, arguments.seed);
  } else {
    print_losses(data, arguments);
  }
  return 0;
}

}  // namespace
}  // namespace linnet

int main(int argc, char** argv) {
  try {
    return linnet::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "linnet_step_losses: {}\n", error.what());
    return 1;
  }
}
