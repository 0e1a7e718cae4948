// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace linnet::command {

/// Claims a folder for one process: a lock file with its id, which the system also locks (flock) as
/// long as the process lives. So the claim of a process that was killed ends with it, whoever gets
/// its id later; on file systems without locks such a file has to be deleted by hand.
class FolderLock {
 public:
  /// Throws Error where nothing can be written into the folder, and where another process holds it,
  /// with `advice` on what to do then.
  FolderLock(const std::filesystem::path& folder, const std::string& advice);
  /// Removes the lock file.
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
};

/// Returns whether a living process holds the folder.
bool is_locked(const std::filesystem::path& folder);

/// Removes what killed processes have left in a folder: temporary files
/// (".linnet-<process>-<n>.tmp") and a lock file that nobody holds. Those of living processes stay,
/// and so does everything where an error comes up.
void remove_leftovers(const std::filesystem::path& folder);

}  // namespace linnet::command
