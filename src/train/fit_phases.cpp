// SPDX-License-Identifier: Apache-2.0
#include "train/fit_phases.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "base/pattern.h"
#include "describe/nearest.h"
#include "model/options.h"
#include "model/update_options.h"
#include "train/trainer_state.h"

namespace linnet {
namespace {

bool holds(const Freeze& entry, std::int64_t epochs_done) {
  return entry.after <= epochs_done && (!entry.until || epochs_done < *entry.until);
}

bool overlap(const Freeze& a, const Freeze& b) {
  const auto ends_after = [](const Freeze& one, std::int64_t epochs) {
    return !one.until || *one.until > epochs;
  };
  return ends_after(a, b.after) && ends_after(b, a.after);
}

/// trained: by parameter, whether it trains but for `freeze`.
void check(const std::vector<Freeze>& freeze, const NetworkDefinition& network,
           const std::vector<bool>& trained) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < trained.size(); ++i) {
    if (trained[i]) names.push_back(network.parameters[i].name);
  }
  for (auto entry = freeze.begin(); entry != freeze.end(); ++entry) {
    description_of<Freeze>().check(&*entry, entry->name);
    require(!entry->until || *entry->until > entry->after,
            "[freeze '{}'] expected until to be above after = {}; got {}", entry->name,
            entry->after, entry->until.value_or(0));
    require(std::ranges::any_of(names,
                                [&](const auto& name) { return matches(entry->name, name); }),
            "[freeze '{}'] expected the name of parameters that train; these are {}", entry->name,
            some_of(names));
    for (auto other = freeze.begin(); other != entry; ++other) {
      require(other->name != entry->name || !overlap(*other, *entry),
              "[freeze '{}'] expected one entry of this name for an epoch; got two", entry->name);
    }
  }
}

}  // namespace

FitPhases::FitPhases(TrainerState& trainer, ObjectiveState& objective)
    : trainer_(trainer), objective_(objective), before_(objective.objective.trains) {}

FitPhases::~FitPhases() {
  try {
    leave();
  } catch (...) {  // the device has failed, and says so to the next call
    objective_.objective.trains = std::move(before_);
  }
}

void FitPhases::plan(const std::vector<Freeze>& freeze, const StepData& data,
                     const FitPlace& place) {
  if (freeze.empty()) return;
  const NetworkDefinition& network = objective_.network();
  const auto length = static_cast<std::int64_t>(place.steps_of_epoch);
  const std::vector<bool> trained =
      trained_parameters(network, objective_.optimizer(place.last_epoch, length, data));
  check(freeze, network, trained);
  // A checkpoint that does not fit is refused later.
  const std::int64_t first = std::min(place.epoch, place.last_epoch);
  std::vector<std::int64_t> begins{first};
  for (const Freeze& entry : freeze) {
    for (const std::int64_t done : {entry.after, entry.until.value_or(entry.after)}) {
      if (done >= first && done < place.last_epoch) begins.push_back(done + 1);
    }
  }
  std::ranges::sort(begins);
  std::vector<std::int64_t> left_out = objective_.updates_left_out();
  left_out.resize(network.parameters.size());
  for (auto begin = begins.begin(); begin != begins.end(); ++begin) {
    const auto next = begin + 1;
    if (next != begins.end() && *next == *begin) continue;
    std::vector<bool> rests;
    bool any = false;
    for (std::size_t i = 0; i < trained.size(); ++i) {
      const bool frozen =
          trained[i] && std::ranges::any_of(freeze, [&](const Freeze& entry) {
            return holds(entry, *begin - 1) && matches(entry.name, network.parameters[i].name);
          });
      any = any || frozen;
      rests.push_back(frozen || !trained[i]);
    }
    FitPhase& phase = phases_.emplace_back();
    phase.first_epoch = *begin;
    phase.trains = before_;
    if (any) phase.trains = groups_without(network, before_, rests);
    require(!any || !phase.trains.empty(), "freeze leaves no parameter to train in epoch {}",
            *begin);
    phase.optimizer = objective_.optimizer(place.last_epoch, length, data, phase.trains, left_out);
    if (next != begins.end()) {
      const std::uint64_t done =
          *begin == first ? std::min(place.updates, place.steps_of_epoch) : 0;
      const auto epochs = static_cast<std::uint64_t>(*next - *begin);
      const auto updates = static_cast<std::int64_t>(epochs * place.steps_of_epoch - done);
      for (std::size_t i = 0; i < rests.size(); ++i) left_out[i] += any && rests[i] ? updates : 0;
    }
  }
}

void FitPhases::add_programs(Session& session, const FitParts& parts, const FitProgram& program,
                             const FitForm& form) {
  for (auto phase = std::next(phases_.begin()); phase != phases_.end(); ++phase) {
    const FitProgram of{program.model,    program.objective, program.options,
                        phase->optimizer, program.trainer,   program.trained};
    const bool fed = parts.train.stream != nullptr;
    phase->pass = add_training(session, parts.train.data, phase->tree, of, form, fed);
  }
}

void FitPhases::bind(Session& session, const FitPart& train, bool shuffle) {
  for (auto phase = std::next(phases_.begin()); phase != phases_.end(); ++phase) {
    linnet::bind(session, phase->pass, train, shuffle);
  }
}

void FitPhases::enter(std::int64_t epoch, FitParts& parts) {
  FitPhase* wanted = nullptr;
  for (FitPhase& phase : phases_) {
    if (wanted == nullptr || phase.first_epoch <= epoch) wanted = &phase;
  }
  if (current_ == wanted) return;
  current_ = wanted;
  train(wanted->trains);
  if (wanted == &phases_.front()) return;
  parts.train.pass = std::move(wanted->pass);
  parts.updates.tree = std::move(wanted->tree);
}

void FitPhases::leave() {
  if (current_ == nullptr) return;
  current_ = nullptr;
  train(before_);
}

void FitPhases::train(const std::vector<ParameterGroup>& trains) {
  objective_.set_trains(trains);
  clear_shards(trainer_.state(), *objective_.memory);  // gradients that are no longer written
}

std::vector<std::string> notes_on(const std::vector<Freeze>& freeze, std::int64_t last_epoch) {
  std::vector<std::string> notes;
  for (const Freeze& entry : freeze) {
    if (entry.after < last_epoch) continue;
    notes.push_back(
        fmt::format("freeze '{}' has no effect: it begins after epoch {}, and the training ends "
                    "after epoch {}",
                    entry.name, entry.after, last_epoch));
  }
  return notes;
}

}  // namespace linnet
