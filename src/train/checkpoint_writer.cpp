// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint_writer.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "model/options.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBegin = "checkpoint-";
constexpr std::string_view kEnd = ".safetensors";
constexpr std::size_t kMostFailures = 20;

fs::path file_of(const fs::path& folder, std::uint64_t steps) {
  return folder / fmt::format("{}{:012}{}", kBegin, steps, kEnd);
}

/// Returns the steps that a checkpoint's name tells.
std::optional<std::uint64_t> steps_of(const std::string& name) {
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) return std::nullopt;
  const char* begin = name.data() + kBegin.size();
  const char* end = name.data() + name.size() - kEnd.size();
  std::uint64_t steps = 0;
  const auto [stop, error] = std::from_chars(begin, end, steps);
  return error == std::errc() && stop == end ? std::optional(steps) : std::nullopt;
}

using Found = std::vector<std::pair<std::uint64_t, fs::path>>;

/// Returns the newest first.
Found find(const fs::path& folder) {
  Found found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::optional<std::uint64_t> steps = steps_of(entry->path().filename().string());
    if (steps) found.emplace_back(*steps, entry->path());
  }
  require<DataError>(!error || error == std::errc::no_such_file_or_directory,
                     "cannot read '{}': {}", folder.string(), error.message());
  std::ranges::sort(found, std::greater<>());
  return found;
}

/// Not before there is something to write: a fit that is refused leaves nothing.
void make_folder(const fs::path& folder) {
  std::error_code error;
  if (!fs::create_directories(folder, error) && !error) return;
  require(!error, "cannot make the folder '{}': {}", folder.string(), error.message());
  sync_folder(folder.has_parent_path() ? folder.parent_path() : fs::path("."));
}

/// Removes files of killed writes.
void remove_temporaries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> left;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(".linnet-") && name.ends_with(".tmp")) left.push_back(entry->path());
  }
  for (const fs::path& path : left) fs::remove(path, error);
}

}  // namespace

std::vector<fs::path> checkpoint_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (auto& [steps, path] : find(folder)) files.push_back(std::move(path));
  return files;
}

SavedCheckpoint read_checkpoint(const fs::path& folder) {
  SavedCheckpoint saved;
  for (const fs::path& file : checkpoint_files(folder)) {
    try {
      saved.state = read_state(file);
      saved.file = file;
      return saved;
    } catch (const DataError& error) {
      saved.damaged.emplace_back(error.what());
    }
  }
  require<DataError>(!saved.damaged.empty(), "the folder '{}' has no checkpoint", folder.string());
  fail<DataError>("no checkpoint in '{}' can be read; {}", folder.string(), saved.damaged.front());
}

CheckpointWriter::CheckpointWriter(const Checkpoints& options, TakeCheckpoint take)
    : options_(options), take_(std::move(take)) {
  description_of<Checkpoints>().check(&options, "");
}

void CheckpointWriter::open() {
  if (!enabled() || take_) return;
  const fs::path& folder = options_.folder;
  require(options_.resume || find(folder).empty(),
          "the folder '{}' has checkpoints of another fit; continue that fit (Checkpoints::resume) "
          "or name another folder",
          folder.string());
  remove_temporaries(folder);
}

bool CheckpointWriter::due(std::uint64_t steps) const {
  if (!enabled()) return false;
  if (options_.every_steps > 0 && steps % static_cast<std::uint64_t>(options_.every_steps) == 0) {
    return true;
  }
  return is_late();
}

bool CheckpointWriter::is_late() const {
  const double passed = std::chrono::duration<double>(Clock::now() - last_).count();
  return options_.every_seconds > 0 && passed >= options_.every_seconds;
}

std::uint64_t CheckpointWriter::next(std::uint64_t step, std::uint64_t first,
                                     std::uint64_t last) const {
  if (!enabled() || options_.every_steps == 0) return last;
  const auto every = static_cast<std::uint64_t>(options_.every_steps);
  const std::uint64_t left = every - (first + step) % every;
  return std::min(last, step + left);
}

CheckpointReport CheckpointWriter::write(const State& state, std::int64_t epoch,
                                         std::uint64_t steps, std::int64_t best) {
  const Clock::time_point begin = Clock::now();
  if (take_) {
    const bool late = is_late();
    last_ = begin;
    return take_(state, epoch, steps, late);
  }
  CheckpointReport report{.file = file_of(options_.folder, steps), .epoch = epoch, .step = steps};
  try {
    make_folder(options_.folder);
    write_state(report.file, state);
    remove_old(steps, best);
  } catch (const Error& error) {
    report.error =
        fmt::format("the checkpoint of step {} could not be saved: {}", steps, error.what());
    if (options_.on_failed_save == OnFailedSave::stop) fail_again(error, "{}", report.error);
    if (failures_.size() == kMostFailures) failures_.erase(failures_.begin());
    failures_.push_back(report.error);
  }
  last_ = Clock::now();
  report.seconds = std::chrono::duration<double>(last_ - begin).count();
  return report;
}

void CheckpointWriter::remove_old(std::uint64_t steps, std::int64_t best) const {
  std::int64_t kept = 0;
  for (const auto& [saved, path] : find(options_.folder)) {
    if (best >= 0 && saved == static_cast<std::uint64_t>(best)) continue;
    // Later ones are damaged: the fit continued from one before them.
    if (saved <= steps && ++kept <= options_.keep) continue;
    std::error_code ignored;  // the next time removes it
    fs::remove(path, ignored);
  }
}

}  // namespace linnet
