// SPDX-License-Identifier: Apache-2.0
// One rank of a job that adds arrays: what the tests of faults kill and stop.
//   ranks_probe mpi|mpi-fast|gloo|gloo-fast STEPS FLOATS MILLISECONDS [DEADLINE [START]]
// RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT as torchrun sets them.
#include <fmt/format.h>
#include <linnet/ranks.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "dist/rank_group.h"

namespace {

using linnet::RankAccess;
using linnet::RankEngine;
using linnet::Ranks;

std::string variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

void print(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

int work(const std::vector<std::string>& arguments) {
  linnet::RanksOptions options;
  const std::string& engine = arguments.at(0);
  options.engine = engine.starts_with("mpi") ? RankEngine::mpi : RankEngine::gloo;
  if (engine.ends_with("-fast")) options.reduce = linnet::RankReduce::fast;
  options.rank = std::stoi(variable("RANK", "0"));
  options.size = std::stoi(variable("WORLD_SIZE", "1"));
  options.local_rank = std::stoi(variable("LOCAL_RANK", "0"));
  options.master_address = variable("MASTER_ADDR", "");
  options.master_port = static_cast<std::uint16_t>(std::stoi(variable("MASTER_PORT", "0")));
  options.deadline_seconds = arguments.size() > 4 ? std::stod(arguments[4]) : 10;
  options.start_seconds = arguments.size() > 5 ? std::stod(arguments[5]) : 60;
  const Ranks ranks = Ranks::open(options);
  linnet::RankGroup* group = RankAccess::group(ranks);
  print(fmt::format("rank {} of {} by {}: process {}", ranks.rank(), ranks.size(), ranks.engine(),
                    ::getpid()));
  std::vector<float> values(std::stoul(arguments.at(2)));
  double total = 0;
  double seconds = 0;
  double fastest = 0;
  const int steps = std::stoi(arguments.at(1));
  for (int step = 1; step <= steps; ++step) {
    std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(arguments.at(3))));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(ranks.rank() + 1) + static_cast<float>(i % 7);
    }
    const auto start = std::chrono::steady_clock::now();
    if (group != nullptr) {
      group->sum(std::span(values), fmt::format("the sum of gradients at step {}", step));
    }
    const double sum =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    seconds += sum;
    fastest = step == 1 ? sum : std::min(fastest, sum);
    for (const float value : values) total += value;
    if (ranks.rank() == 0) print(fmt::format("step {}", step));
  }
  print(fmt::format("total {} in {:.6f} s a sum, the fastest {:.6f} s", total,
                    seconds / std::max(1, steps), fastest));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return work({argv + 1, argv + argc});
  } catch (const linnet::RankError& error) {
    fmt::print(stderr, "probe: lost rank: {}\n", error.what());
    return 4;
  } catch (const std::exception& error) {
    fmt::print(stderr, "probe: {}\n", error.what());
    return 2;
  }
}
