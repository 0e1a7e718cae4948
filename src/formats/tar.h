// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace linnet {

/// Returns whether a file is called like an archive that read_tar() reads: .tar, .tar.gz, .tgz,
/// .tar.xz, .txz.
bool is_tar_name(const std::filesystem::path& path);

/// Gets a file of an archive: its path, which is relative and stays in the folder that it is
/// unpacked into, and its content.
using TakeFile = std::function<void(const std::string& path, std::string_view content)>;

/// Hands the regular files of a tar archive (POSIX.1-2001 with GNU's long names), plain or packed
/// by gzip or xz, to `take` in the order of the archive. Takes the memory of the packed archive and
/// of one file. Throws DataError naming the archive: it is not a tar archive, is damaged or cut
/// short, holds no files, a path that leaves the folder, a link or a device, a file of more than 1
/// GiB, more than 64 GiB or 4,000,000 files in all.
void read_tar(const std::filesystem::path& archive, const TakeFile& take);

/// Unpacks an archive as a new folder, whole or not at all. Throws as read_tar() and StagedFolder
/// do.
void unpack_tar(const std::filesystem::path& archive, const std::filesystem::path& folder);

}  // namespace linnet
