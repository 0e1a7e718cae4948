// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace linnet {

/// A folder that appears whole or not at all: it is filled under a hidden name beside its place,
/// and removed with all it holds unless commit() is reached.
class StagedFolder {
 public:
  /// Throws Error where `target` is there already (an empty folder may be), or nothing can be
  /// written beside it. Makes the folders above it.
  explicit StagedFolder(std::filesystem::path target);
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;
  ~StagedFolder();

  /// Returns where to put the files.
  const std::filesystem::path& path() const { return path_; }
  /// Returns a folder in it, with those above.
  std::filesystem::path make_folder(const std::filesystem::path& relative) const;
  /// A file in it. Throws Error naming it as it will be called: "cannot write 'x': No space left".
  void write(const std::filesystem::path& relative, std::string_view content) const;
  /// Puts the folder where it belongs. Throws Error where something has come there meanwhile.
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
};

}  // namespace linnet
