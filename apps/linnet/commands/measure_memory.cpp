// SPDX-License-Identifier: Apache-2.0
#include "commands/measure_memory.h"

#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/check.h"
#include "nn/definition.h"
#include "report/machine.h"

extern char** environ;

namespace linnet::command {
namespace {

template <class T>
Tensor zeros(const Shape& sample, std::int64_t count) {
  const Shape shape = sample.batched(count);
  return Tensor(std::vector<T>(static_cast<std::size_t>(shape.elements())), shape);
}

/// Returns samples of the types for which memory is planned.
Dataset zeros_for(const Network& network, Loss loss, std::int64_t count) {
  std::vector<Column> inputs;
  for (const NetworkInput& input : network.definition().inputs) {
    const bool ids = input.dtype == DType::i32;
    const bool pixels = !ids && input.sample.rank() > 1;
    inputs.push_back({input.name, ids      ? zeros<std::int32_t>(input.sample, count)
                                  : pixels ? zeros<std::uint8_t>(input.sample, count)
                                           : zeros<float>(input.sample, count)});
  }
  const Shape outputs = network.output_shape();
  const bool labels = loss == Loss::cross_entropy ||
                      (loss == Loss::automatic && outputs.rank() == 1 && outputs[0] > 1);
  Tensor targets = labels ? zeros<std::int32_t>({}, count) : zeros<float>(outputs, count);
  return Dataset(std::move(inputs), {{"target", std::move(targets)}});
}

/// Forgets the peak so far; Linux.
void reset_peak() {
  ::malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;
}

}  // namespace

std::size_t measure_memory(const Job& job, bool training, std::int64_t batch,
                           const MemoryPlan& plan) {
  const std::size_t before = resident_bytes();
  const Dataset data = zeros_for(job.network, job.training.loss, batch);
  reset_peak();
  Model model(job.network, job.model);
  if (training) {
    TrainingOptions options = job.training;
    options.epochs = 1;
    options.batch = batch;
    options.shards = plan.shards;
    options.recompute = plan.recompute;
    train(model, data, options);
  } else {
    static_cast<void>(model.predict(data, batch));
  }
  return peak_bytes() - before;
}

std::string run_again(const std::vector<std::string>& arguments) {
  std::array<int, 2> ends{};
  require(::pipe2(ends.data(), O_CLOEXEC) == 0, "cannot make a pipe: {}", std::strerror(errno));
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<std::string> words{"linnet"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int failed =
      ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string printed;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0;
       failed == 0 && ((count = ::read(ends[0], buffer.data(), buffer.size())) > 0 ||
                       (count < 0 && errno == EINTR));) {
    if (count > 0) printed.append(buffer.data(), static_cast<std::size_t>(count));
  }
  ::close(ends[0]);
  require(failed == 0, "cannot start linnet again: {}", std::strerror(failed));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  require(WIFEXITED(status) && WEXITSTATUS(status) == 0,
          "the step that was to be measured failed in its process");
  return printed;
}

}  // namespace linnet::command
