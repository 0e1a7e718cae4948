// SPDX-License-Identifier: Apache-2.0
#include <linnet/fleet.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/join.h"
#include "model/memory_report.h"
#include "model/model_state.h"
#include "train/fleet_checkpoints.h"
#include "train/fleet_state.h"
#include "train/member_fit.h"
#include "train/memory_plan.h"
#include "train/not_finite.h"
#include "train/trainer_state.h"

namespace linnet {
namespace {

/// Says in what the members of a fleet differ, beside what each one's own checkpoint tells.
std::string identity_of(const FleetOptions& options) {
  std::string text =
      fmt::format("{} members, seeds {}", options.seeds.size(), join(options.seeds, " "));
  if (options.data_seed) text += fmt::format(", data_seed {}", *options.data_seed);
  return text;
}

/// One call of Fleet::fit().
class FleetFit {
 public:
  FleetFit(FleetState& fleet, const Dataset& data, const FitOptions& options,
           FleetCallback* callback)
      : fleet_(fleet),
        data_(data),
        options_(options),
        callback_(callback),
        checkpoints_(options.checkpoints, identity_of(fleet.options), fleet.members.size(),
                     [this](const CheckpointReport& report) {
                       tell([&](FleetCallback& to) { to.on_checkpoint(report); });
                     }) {
    options_.memory_limit = 0;  // that of all members was checked
    options_.checkpoints.resume = false;
    for (std::size_t k = 0; k < fleet.members.size(); ++k) {
      members_.push_back(std::make_unique<Running>(*this, k));
    }
  }

  FleetHistory run() {
    FleetHistory history;
    history.members.resize(members_.size());
    if (checkpoints_.enabled()) prepare_all();
    fleet_.for_members([&](std::size_t k) { history.members[k] = train(k); });
    checkpoints_.finish();
    for (const FleetState::Member& member : fleet_.members) {
      history.failures.push_back(member.failure);
    }
    history.notes = checkpoints_.notes();
    return history;
  }

 private:
  /// A member in this fit.
  struct Running final : Callback {
    Running(FleetFit& of, std::size_t index) : fit(of), k(index) {}
    void on_epoch(const EpochReport& report) override {
      done.push_back(report);
      fit.tell([&](FleetCallback& to) { to.on_epoch(static_cast<std::int64_t>(k), report); });
    }
    void on_resume(const ResumeReport& report) override {
      done = report.epochs;
      fit.tell([&](FleetCallback& to) { to.on_resume(static_cast<std::int64_t>(k), report); });
    }
    bool stop_requested() override { return fit.stops(k); }

    FleetFit& fit;
    std::size_t k;
    std::optional<SavedCheckpoint> saved = {};
    bool continues = false;  ///< a checkpoint
    std::unique_ptr<MemberFit> ready = nullptr;
    std::vector<EpochReport> done = {};  ///< for a fit that fails
  };

  /// Finds each member's place, so that a checkpoint that does not fit is refused, and that the
  /// first file has all members.
  void prepare_all() {
    std::vector<SavedCheckpoint> saved = checkpoints_.open();
    for (std::size_t k = 0; k < saved.size(); ++k) {
      const std::string failure = FleetCheckpoints::failure_in(saved[k]);
      if (failure.empty()) {
        members_[k]->saved = std::move(saved[k]);
      } else {
        fleet_.members[k].failure = failure;
      }
    }
    fleet_.for_members([&](std::size_t k) {
      attempt(k, [&] {
        Running& member = *members_[k];
        prepare(k);
        if (!member.saved) return member.ready->save();
        // The fit restores its counters with its first step: its place is still in the checkpoint.
        const State state = std::move(std::exchange(member.saved, std::nullopt)->state);
        const Position at = position_of(state);
        checkpoints_.take(k, state, at.epochs, at.steps, false);
      });
      const std::string& failure = fleet_.members[k].failure;
      if (!failure.empty()) checkpoints_.take_failure(k, failure);
    });
    checkpoints_.begin();
  }

  void prepare(std::size_t k) {
    Running& member = *members_[k];
    FitOptions options = options_;
    options.callback = &member;
    const auto take = [this, k](const State& state, std::int64_t epoch, std::uint64_t steps,
                                bool by_time) {
      return checkpoints_.take(k, state, epoch, steps, by_time);
    };
    member.ready = prepare_member(fleet_.trainer(k), data_, options, member.saved, take);
    member.continues = member.saved.has_value();
  }

  History train(std::size_t k) {
    Running& member = *members_[k];
    History history;
    attempt(k, [&] {
      if (member.ready == nullptr) prepare(k);
      history.interrupted = !member.continues && stops(k);
      if (!history.interrupted) history = member.ready->run();
    });
    if (!fleet_.members[k].alive()) history.epochs = std::move(member.done);
    member.ready.reset();
    checkpoints_.end_member();
    return history;
  }

  /// Calls f() for a member that has not failed, and notes why it fails if it meets something that
  /// is not finite. Any other failure ends the fit of all.
  template <class F>
  void attempt(std::size_t k, const F& f) {
    FleetState::Member& member = fleet_.members[k];
    if (!member.alive()) return;
    try {
      f();
    } catch (const NotFiniteError& error) {
      member.failure = fmt::format("member {} (seed {}): {}", k, member.seed, error.what());
    } catch (...) {
      aborted_ = true;
      throw;
    }
  }

  /// Calls f(callback), if there is one, after calls of other threads.
  template <class F>
  void tell(const F& f) {
    if (callback_ == nullptr) return;
    const std::lock_guard lock(turn_);
    f(*callback_);
  }

  bool stops(std::size_t k) {
    bool stop = aborted_;
    if (!stop) {
      tell([&](FleetCallback& to) { stop = to.stop_requested(static_cast<std::int64_t>(k)); });
    }
    return stop;
  }

  FleetState& fleet_;
  const Dataset data_;
  FitOptions options_;
  FleetCallback* callback_;
  FleetCheckpoints checkpoints_;
  std::vector<std::unique_ptr<Running>> members_;
  std::mutex turn_;  ///< of the callback
  std::atomic<bool> aborted_ = false;
};

}  // namespace

void FleetState::check_memory(const FitOptions& fit) const {
  if (fit.memory_limit == 0) return;
  const Objective& first = objective(0);
  const ModelState& model = members.front().trainer.model().state();
  const std::size_t one = training_memory(model.definition(), fit.batch, 1,
                                          {.optimizer = first.optimizer,
                                           .average = first.average,
                                           .lookahead = first.lookahead,
                                           .loss = first.loss,
                                           .loss_options = first.loss_options,
                                           .custom_loss = first.custom_loss,
                                           .output_losses = first.output_losses},
                                          *model.backend)
                              .total();
  require(one * members.size() <= fit.memory_limit,
          "the training of {} members needs {}, of each {}, but the limit is {}: {} members fit",
          members.size(), mebibytes(one * members.size()), mebibytes(one),
          mebibytes(fit.memory_limit), fit.memory_limit / one);
}

FleetHistory Fleet::fit(const Dataset& data, const FitOptions& options, FleetCallback* callback) {
  FleetState& fleet = *state_;
  require(options.callback == nullptr,
          "FitOptions::callback watches one trainer; give a fleet's fit() a FleetCallback");
  fleet.check_memory(options);
  FleetHistory history = FleetFit(fleet, data, options, callback).run();
  require(std::ranges::any_of(fleet.members, &FleetState::Member::alive),
          "every member of the fleet has failed, the first one: {}", history.failures.front());
  return history;
}

}  // namespace linnet
