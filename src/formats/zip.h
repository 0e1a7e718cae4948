// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/npy.h"

namespace linnet {

/// A file in a zip archive, as the archive's directory describes it.
struct ZipEntry {
  std::string name;
  bool deflated = false;       ///< else its bytes stand as they are
  std::uint32_t crc = 0;       ///< CRC-32 of its bytes
  std::uint64_t packed = 0;    ///< bytes in the archive
  std::uint64_t bytes = 0;     ///< bytes unpacked
  std::uint64_t start = 0;     ///< where its local header stands
  std::string_view data = {};  ///< its packed bytes
};

/// A zip archive in memory, as NumPy writes .npz (PKWARE's APPNOTE 6.3, without zip64, encryption
/// and several disks). Entries are checked against each other when it is opened: none overlaps
/// another, and none unpacks to more than deflate can pack into its bytes.
class ZipFile {
 public:
  /// Throws DataError "cannot read 'x': ..." for a file that is cut, damaged, or more than this
  /// reader takes.
  explicit ZipFile(const std::filesystem::path& path);

  /// Returns them in the order of the archive's directory.
  const std::vector<ZipEntry>& entries() const { return entries_; }
  /// Gives the bytes of an entry one after the other. Reading throws DataError where they are
  /// damaged, the last bytes where their CRC-32 is wrong. Valid as long as the archive lives.
  static ReadBytes open(const ZipEntry& entry);

 private:
  std::shared_ptr<const std::string> bytes_;
  std::vector<ZipEntry> entries_;
};

/// A file to put into an archive: its pieces one after the other.
struct ZipSource {
  std::string name;
  std::vector<std::string_view> pieces;
};
/// Writes an archive of uncompressed files, whole or not at all, equal bytes for equal files.
/// Throws Error where it would need zip64 (4 GiB), and where it cannot be written.
void write_zip(const std::filesystem::path& path, std::span<const ZipSource> files);

}  // namespace linnet
