// SPDX-License-Identifier: Apache-2.0
#include "train/fleet_checkpoints.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "base/check.h"

namespace linnet {
namespace {

constexpr const char* kFleet = "fleet/members";
constexpr const char* kFailure = "failure";

std::string member_prefix(std::size_t member) { return fmt::format("member/{}/", member); }

Tensor bytes_of(const std::string& text) {
  return Tensor(std::vector<std::uint8_t>(text.begin(), text.end()));
}

std::string text_in(const Tensor& tensor) {
  require<DataError>(tensor.dtype() == DType::u8, "expected text, as u8; got {}",
                     to_string(tensor.dtype()));
  const std::span<const std::uint8_t> bytes = tensor.as<std::uint8_t>();
  return {bytes.begin(), bytes.end()};
}

}  // namespace

FleetCheckpoints::FleetCheckpoints(const Checkpoints& options, std::string identity,
                                   std::size_t members, OnFile on_file)
    : options_(options),
      writer_(options),
      identity_(std::move(identity)),
      on_file_(std::move(on_file)),
      parts_(members),
      running_(members) {}

std::vector<SavedCheckpoint> FleetCheckpoints::open() {
  writer_.open();
  if (checkpoint_files(options_.folder).empty()) return {};
  SavedCheckpoint saved = read_checkpoint(options_.folder);
  const std::string file = saved.file.string();
  const Tensor* identity = saved.state.find(kFleet);
  require(identity != nullptr, "'{}' is not a checkpoint of a fleet", file);
  const std::string before = text_in(*identity);
  require(before == identity_, "the checkpoint '{}' was written by a fleet of {}; this one has {}",
          file, before, identity_);
  damaged_ = std::move(saved.damaged);
  std::vector<SavedCheckpoint> members;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    members.push_back({.file = saved.file, .state = saved.state.part(member_prefix(k))});
    require<DataError>(members.back().state.size() > 0,
                       "the checkpoint '{}' is damaged: it lacks member {}", file, k);
  }
  return members;
}

std::string FleetCheckpoints::failure_in(const SavedCheckpoint& member) {
  const Tensor* failure = member.state.find(kFailure);
  return failure == nullptr ? "" : text_in(*failure);
}

CheckpointReport FleetCheckpoints::take(std::size_t member, const State& state, std::int64_t epoch,
                                        std::uint64_t steps, bool by_time) {
  const std::lock_guard lock(mutex_);
  parts_[member] = {state, epoch, steps};
  ++taken_;
  if (begun_ && (by_time || taken_ >= running_)) write();
  return {.file = {}, .epoch = epoch, .step = steps};
}

void FleetCheckpoints::take_failure(std::size_t member, const std::string& sentence) {
  State state;
  state.set(kFailure, bytes_of(sentence));
  const std::lock_guard lock(mutex_);
  parts_[member] = {.state = std::move(state)};
}

void FleetCheckpoints::begin() {
  taken_ = 0;
  begun_ = true;
}

void FleetCheckpoints::end_member() {
  const std::lock_guard lock(mutex_);
  --running_;
}

void FleetCheckpoints::finish() {
  if (taken_ > 0) write();
}

void FleetCheckpoints::write() {
  std::vector<State::Entry> entries{{kFleet, bytes_of(identity_)}};
  std::int64_t epoch = std::numeric_limits<std::int64_t>::max();
  std::uint64_t steps = 0;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    for (const auto& [name, value] : parts_[k].state) {
      entries.push_back({member_prefix(k) + name, value});
    }
    if (parts_[k].epoch >= 0) epoch = std::min(epoch, parts_[k].epoch);
    steps += parts_[k].steps;
  }
  const CheckpointReport report = writer_.write(State(std::move(entries)), epoch, steps, -1);
  taken_ = 0;
  on_file_(report);
}

std::vector<std::string> FleetCheckpoints::notes() const {
  std::vector<std::string> notes = damaged_;
  notes.insert(notes.end(), writer_.failures().begin(), writer_.failures().end());
  return notes;
}

}  // namespace linnet
