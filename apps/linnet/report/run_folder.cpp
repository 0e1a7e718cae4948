// SPDX-License-Identifier: Apache-2.0
#include "report/run_folder.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>

#include "base/check.h"

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOtherFolder = "name another folder with --out";

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &local);
  return text.data();
}

/// Makes the folder and those around it; returns the ones that were not there, outermost first.
std::vector<fs::path> make_folder(const fs::path& path) {
  std::vector<fs::path> made;
  std::error_code error;
  if (path.has_parent_path() && path != path.parent_path() &&
      !fs::exists(path.parent_path(), error)) {
    made = make_folder(path.parent_path());
  }
  if (fs::create_directory(path, error)) made.push_back(path);
  if (error) {
    const std::string reason = error.message();
    std::for_each(made.rbegin(), made.rend(), [&](const fs::path& f) { fs::remove(f, error); });
    fail("cannot make the folder '{}': {}", path.string(), reason);
  }
  return made;
}

}  // namespace

RunFolder::RunFolder(const fs::path& wanted, const std::string& name) {
  if (wanted.empty()) {
    const fs::path runs("runs");
    const std::string stem = name + "-" + time_now();
    for (int number = 1; made_.empty() || made_.back() != path_; ++number) {
      path_ = runs / (number == 1 ? stem : fmt::format("{}-{}", stem, number));
      made_ = make_folder(path_);
    }
    lock_.emplace(path_, kOtherFolder);
    std::error_code error;
    for (fs::directory_iterator run(runs, error), end; !error && run != end; run.increment(error)) {
      remove_leftovers(run->path());
    }
    return;
  }
  path_ = wanted.has_filename() ? wanted : wanted.parent_path();
  made_ = make_folder(path_);
  lock_.emplace(path_, kOtherFolder);
  for (const fs::path& file :
       {model(), history(), summary(), metrics(), report(), vocabulary(), checkpoints()}) {
    std::error_code error;  // a link that leads nowhere is something too
    require(fs::symlink_status(file, error).type() == fs::file_type::not_found,
            "the folder '{}' already has a run ({}); name another folder with --out",
            path_.string(), file.filename().string());
  }
  remove_leftovers(path_);
}

RunFolder::RunFolder(const fs::path& stopped)
    : path_(stopped.has_filename() ? stopped : stopped.parent_path()), continued_(true) {
  std::error_code error;
  require(fs::is_directory(path_, error), "there is no folder '{}' whose run could continue",
          stopped.string());
  lock_.emplace(path_, "wait until it has ended");
  remove_leftovers(path_);
}

RunFolder::~RunFolder() {
  lock_.reset();
  std::error_code ignored;  // fails, as it should, where a folder is not empty
  fs::remove(progress(), ignored);
  const auto files = std::distance(fs::directory_iterator(path_, ignored), {});
  if (!continued_ && files == 1) fs::remove(start(), ignored);
  std::for_each(made_.rbegin(), made_.rend(), [&](const fs::path& f) { fs::remove(f, ignored); });
}

std::vector<fs::path> RunFolder::removable() const {
  std::vector<fs::path> paths{lock_->file()};
  if (!continued_) paths.push_back(start());
  paths.insert(paths.end(), made_.rbegin(), made_.rend());
  return paths;
}

}  // namespace linnet::command
