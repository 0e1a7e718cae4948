// SPDX-License-Identifier: Apache-2.0
#include "commands/measure_memory.h"

#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/check.h"
#include "model/step_graph.h"
#include "report/machine.h"

extern char** environ;

namespace linnet::command {
namespace {

/// Returns zeros of the types for which memory is planned, in pages that are there.
Dataset zeros_for(const Network& network, Loss loss, std::int64_t count) {
  const StepData assumed = assumed_data(network.definition(), loss);
  std::vector<Column> columns;
  for (const StepData::Part& part : assumed.parts) {
    Tensor zeros(part.record.dtype, part.record.shape.sample().batched(count));
    std::ranges::fill(zeros.writable_bytes(), std::byte{0});
    columns.push_back({part.name, std::move(zeros)});
  }
  std::vector<Column> targets{std::move(columns.back())};
  columns.pop_back();
  return Dataset(std::move(columns), std::move(targets));
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
