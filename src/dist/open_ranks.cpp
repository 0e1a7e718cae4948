// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>
#include <linnet/ranks.h>

#include <bit>
#include <random>
#include <sstream>

#include "base/check.h"
#include "base/plugin.h"
#include "dist/rank_group.h"
#include "dist/watched_communicator.h"

namespace linnet {
namespace {

PluginFile plugin_of(RankEngine engine) {
  if (engine == RankEngine::mpi) {
    return {"MPI", "liblinnet_mpi.so", "linnet_rank_plugin", "MPI plug-in"};
  }
  return {"Gloo", "liblinnet_gloo.so", "linnet_rank_plugin", "Gloo plug-in"};
}

void check(const RanksOptions& options, RankEngine engine) {
  require(options.deadline_seconds >= 1 && options.deadline_seconds <= 1e6,
          "expected a deadline of 1 to 1,000,000 seconds; got {}", options.deadline_seconds);
  require(options.start_seconds > 0 && options.start_seconds <= 1e6,
          "expected up to 1,000,000 seconds for the start; got {}", options.start_seconds);
  if (engine == RankEngine::mpi) return;
  require(options.size >= 1 && options.rank >= 0 && options.rank < options.size,
          "expected a rank of 0 to {}; got {}", options.size - 1, options.rank);
  require(std::has_single_bit(static_cast<unsigned>(options.size)),
          "expected a power of two as the number of ranks; got {}", options.size);
  require(options.size == 1 || (!options.master_address.empty() && options.master_port != 0),
          "expected the address and the port of rank 0; got '{}' and {}", options.master_address,
          options.master_port);
}

WatchOptions watch_options(const RanksOptions& options, int rank, int size) {
  return {.rank = rank,
          .size = size,
          .deadline_seconds = options.deadline_seconds,
          .start_seconds = options.start_seconds};
}

/// Rank 0's watch tells where the others are, then Gloo connects them.
std::unique_ptr<Communicator> open_gloo(const RanksOptions& options, const RankPlugin& plugin) {
  const WatchOptions watched = watch_options(options, options.rank, options.size);
  auto watch =
      options.rank == 0
          ? std::make_unique<RankWatch>(watched,
                                        listen_on(options.master_address, options.master_port))
          : std::make_unique<RankWatch>(watched, std::vector<std::string>{options.master_address},
                                        options.master_port);
  auto wire = plugin.open({.ranks = options,
                           .own_address = watch->own_address(),
                           .gather = [&](const std::string& text) { return watch->gather(text); }});
  return std::make_unique<WatchedCommunicator>("gloo", std::move(wire), std::move(watch));
}

std::string random_token() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

/// MPI tells the others where rank 0's watch is.
std::unique_ptr<Communicator> open_mpi(const RanksOptions& options, const RankPlugin& plugin) {
  auto communicator = std::make_unique<WatchedCommunicator>(
      "mpi", plugin.open({.ranks = options, .own_address = {}, .gather = nullptr}));
  const int rank = communicator->rank();
  const int size = communicator->size();
  if (size == 1) return communicator;
  WatchOptions watched = watch_options(options, rank, size);
  Socket listener;
  std::string text;
  if (rank == 0) {
    listener = listen_on("", 0);
    text =
        fmt::format("{} {} {}", random_token(), listener.port(), fmt::join(own_addresses(), " "));
  }
  std::istringstream words(broadcast_text(*communicator, text));
  unsigned port = 0;
  words >> watched.token >> port;
  std::vector<std::string> hosts;
  for (std::string host; words >> host;) hosts.push_back(host);
  require(!hosts.empty() && port > 0 && port < 65536, "a message between ranks is damaged");
  communicator->watch(
      rank == 0 ? std::make_unique<RankWatch>(watched, std::move(listener))
                : std::make_unique<RankWatch>(watched, hosts, static_cast<std::uint16_t>(port)));
  return communicator;
}

}  // namespace

Ranks Ranks::open(const RanksOptions& options) {
  RankEngine engine = options.engine;
  if (engine == RankEngine::automatic) {
    engine = options.master_address.empty() ? RankEngine::mpi : RankEngine::gloo;
  }
  check(options, engine);
  if (engine == RankEngine::gloo && options.size == 1) return {};
  const auto& plugin = plugin_table<RankPlugin>(plugin_of(engine), options.library);
  return RankAccess::make(engine == RankEngine::mpi ? open_mpi(options, plugin)
                                                    : open_gloo(options, plugin),
                          options.local_rank, options.reduce);
}

}  // namespace linnet
