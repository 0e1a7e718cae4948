// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/fleet.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/thread_team.h"

namespace linnet {

/// State of a Fleet: its members, and the threads that they are dealt over.
struct FleetState {
  /// Its model computes on one thread.
  struct Member {
    Trainer trainer;
    std::uint64_t seed = 0;
    std::string failure = {};  ///< empty: it can train

    bool alive() const { return failure.empty(); }
  };

  FleetState(std::size_t count, FleetOptions how)
      : options(std::move(how)), team(std::make_shared<ThreadTeam>(options.threads)) {
    require(count > 0, "expected at least one member of a fleet; got none");
    if (options.seeds.empty()) {
      for (std::size_t k = 0; k < count; ++k) options.seeds.push_back(k);
    }
    require(options.seeds.size() == count, "expected {} seeds, one for each member; got {}", count,
            options.seeds.size());
    const std::size_t objectives = options.objectives.size();
    require(objectives == 1 || objectives == count,
            "expected one objective, or {}, one for each member; got {}", count, objectives);
  }

  ModelOptions one_thread(ModelOptions model, std::size_t k) const {
    model.device = "cpu";
    model.threads = 1;
    model.team = single;
    model.seed = options.seeds[k];
    return model;
  }

  void add(Model model) {
    const std::size_t k = members.size();
    const std::uint64_t seed = options.seeds[k];
    members.push_back(
        {.trainer = Trainer(std::move(model), objective(k),
                            {.seed = options.data_seed.value_or(seed), .metrics = options.metrics}),
         .seed = seed});
  }

  const Objective& objective(std::size_t k) const {
    return options.objectives.size() == 1 ? options.objectives.front() : options.objectives[k];
  }

  /// Returns what a member's trainer keeps.
  TrainerState& trainer(std::size_t k) { return *members[k].trainer.state_; }

  /// Calls f(k) for every member, those that failed too, side by side on the threads.
  void for_members(const std::function<void(std::size_t)>& f) {
    run_tasks(*team, static_cast<std::uint32_t>(members.size()), f, Signals::delivered);
  }

  /// Throws Error where FitOptions::memory_limit does not hold the training of all members.
  void check_memory(const FitOptions& fit) const;

  /// Returns the members' results of `predict` as f32, those that failed without elements.
  std::vector<Tensor> predictions(const std::function<Tensor(Model&)>& predict) {
    require(std::ranges::any_of(members, &Member::alive), "every member of the fleet has failed");
    std::vector<Tensor> made(members.size());
    for_members([&](std::size_t k) {
      if (members[k].alive()) made[k] = predict(members[k].trainer.model()).to(DType::f32);
    });
    return made;
  }

  FleetOptions options;
  std::shared_ptr<ThreadTeam> team;
  std::shared_ptr<ThreadTeam> single = std::make_shared<ThreadTeam>(1);
  std::vector<Member> members = {};
};

}  // namespace linnet
