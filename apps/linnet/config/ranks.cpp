// SPDX-License-Identifier: Apache-2.0
#include "config/ranks.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/check.h"

namespace linnet::command {
namespace {

std::string_view text_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

/// Returns a variable's number; `otherwise` where it is not set.
int number_of(const char* name, int least, int most, int otherwise) {
  const std::string_view text = text_of(name);
  if (text.empty()) return otherwise;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc() && end == text.data() + text.size() && value >= least &&
              value <= most,
          "the environment's {} should be a number from {} to {}; got '{}'", name, least, most,
          text);
  return value;
}

/// Returns how many processes MPI's starter has made, as Open MPI, MPICH and Slurm say it.
int started_by_mpi() {
  constexpr int most = 1 << 20;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const int size = number_of(name, 1, most, 0); size > 0) return size;
  }
  // In a Slurm job, but outside a step of srun, there is no SLURM_STEP_NUM_TASKS.
  return text_of("SLURM_PROCID").empty() ? 0 : number_of("SLURM_STEP_NUM_TASKS", 1, most, 0);
}

}  // namespace

bool in_a_job() { return !text_of("WORLD_SIZE").empty() || started_by_mpi() > 0; }

Ranks ranks_of_environment(double deadline, RankReduce reduce) {
  RanksOptions options;
  options.reduce = reduce;
  options.deadline_seconds = deadline;
  options.size = number_of("WORLD_SIZE", 1, 1 << 20, 1);
  const bool torchrun = !text_of("RANK").empty() && options.size > 1;
  if (const int size = started_by_mpi(); size > 1) {
    options.engine = RankEngine::mpi;
    options.local_rank = number_of("OMPI_COMM_WORLD_LOCAL_RANK", 0, size, 0);
    return Ranks::open(options);
  }
  if (!torchrun) return {};
  options.engine = RankEngine::gloo;
  options.rank = number_of("RANK", 0, options.size - 1, 0);
  options.local_rank = number_of("LOCAL_RANK", 0, options.size - 1, 0);
  options.master_address = text_of("MASTER_ADDR");
  options.master_port = static_cast<std::uint16_t>(number_of("MASTER_PORT", 1, 65535, 0));
  return Ranks::open(options);
}

}  // namespace linnet::command
