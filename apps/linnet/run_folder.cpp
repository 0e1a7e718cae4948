// SPDX-License-Identifier: Apache-2.0
#include "run_folder.h"

#include <array>
#include <ctime>

#include "base/check.h"

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &local);
  return text.data();
}

/// True if the folder was not there before; Error where it cannot be.
bool make_folder(const fs::path& path) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  const bool made = !error && fs::create_directory(path, error);
  require(!error, "cannot make the folder '{}': {}", path.string(), error.message());
  return made;
}

}  // namespace

RunFolder::RunFolder(const fs::path& wanted, const std::string& name) {
  if (wanted.empty()) {
    const std::string stem = name + "-" + time_now();
    for (int number = 1; !made_; ++number) {
      path_ = fs::path("runs") / (number == 1 ? stem : fmt::format("{}-{}", stem, number));
      made_ = make_folder(path_);
    }
    return;
  }
  path_ = wanted.has_filename() ? wanted : wanted.parent_path();
  made_ = make_folder(path_);
  for (const fs::path& file : {model(), history(), summary(), report()}) {
    require(!fs::exists(file), "the folder '{}' holds a run already ({}); name another with --out",
            path_.string(), file.filename().string());
  }
}

RunFolder::~RunFolder() {
  std::error_code ignored;  // fails, as it should, where the folder is not empty
  if (made_) fs::remove(path_, ignored);
}

void RunFolder::append_history(const Json& epoch) {
  if (!history_) history_.emplace(history());
  history_->append_line(epoch.dump());
}

}  // namespace linnet::command
