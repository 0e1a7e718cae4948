// SPDX-License-Identifier: Apache-2.0
#include "formats/tar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/memory.h"
#include "base/staged_folder.h"
#include "base/utf8.h"
#include "formats/packed.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlock = 512;
constexpr std::size_t kMostFile = std::size_t{1} << 30;
constexpr std::size_t kMostNames = std::size_t{1} << 16;  // of a header that holds a long name
constexpr std::size_t kMostBytes = most_bytes(36);
constexpr std::size_t kMostFiles = 4'000'000;

/// Returns a field of a header: its bytes up to the first that is zero.
std::string_view text_at(std::string_view header, std::size_t at, std::size_t size) {
  const std::string_view field = header.substr(at, size);
  return field.substr(0, std::min(field.find('\0'), field.size()));
}

/// Returns an octal number between spaces; none where it is anything else.
std::optional<std::size_t> octal_at(std::string_view header, std::size_t at, std::size_t size) {
  std::string_view text = text_at(header, at, size);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  text = text.substr(0, std::min(text.find(' '), text.size()));
  std::size_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value, 8);
  if (text.empty() || error != std::errc{} || stopped != end) return std::nullopt;
  return value;
}

/// Returns the sum of a header's bytes, those of its own field taken as spaces.
std::size_t sum_of(std::string_view header) {
  constexpr std::size_t kField = 148;
  std::size_t sum = 0;
  for (std::size_t i = 0; i < header.size(); ++i) {
    sum += i >= kField && i < kField + 8 ? ' ' : static_cast<unsigned char>(header[i]);
  }
  return sum;
}

/// Returns the path of a POSIX header of attributes: lines of "LENGTH KEY=VALUE".
std::optional<std::string> path_attribute(std::string_view lines) {
  std::optional<std::string> path;
  while (!lines.empty()) {
    std::size_t length = 0;
    const char* const end = lines.data() + lines.size();
    const auto [stopped, error] = std::from_chars(lines.data(), end, length);
    const auto digits = static_cast<std::size_t>(stopped - lines.data());
    if (error != std::errc{} || length <= digits + 1 || length > lines.size()) return path;
    const std::string_view entry = lines.substr(digits + 1, length - digits - 2);
    if (entry.starts_with("path=")) path = entry.substr(5);
    lines.remove_prefix(length);
  }
  return path;
}

/// Reads an archive in pieces of any sizes.
class TarReader {
 public:
  TarReader(const fs::path& archive, const TakeFile& take) : archive_(archive), take_(take) {}

  /// Returns whether more is wanted.
  bool add(std::string_view piece) {
    while (!piece.empty() && !ended_) {
      const std::size_t wanted = in_header_ ? kBlock - part_.size() : left_;
      const std::size_t taken = std::min(wanted, piece.size());
      // The padding after a file is skipped.
      const std::size_t kept =
          in_header_ ? taken : std::min(taken, left_ - std::min(left_, padding_));
      part_ += piece.substr(0, kept);
      piece.remove_prefix(taken);
      if (!in_header_) left_ -= taken;
      if (in_header_ ? part_.size() == kBlock : left_ == 0) finish_part();
    }
    return !ended_;
  }

  void finish() const {
    require<DataError>(in_header_ && part_.empty(), "the archive '{}' is cut short",
                       archive_.string());
    require<DataError>(files_ > 0, "the archive '{}' holds no files", archive_.string());
  }

 private:
  void finish_part() {
    const std::string part = std::move(part_);
    part_.clear();
    if (in_header_) {
      read_header(part);
    } else {
      in_header_ = true;
      read_content(part);
    }
  }

  void read_header(std::string_view header) {
    if (std::ranges::all_of(header, [](char byte) { return byte == '\0'; })) {
      ended_ = true;
      return;
    }
    const std::optional<std::size_t> sum = octal_at(header, 148, 8);
    require<DataError>(sum && *sum == sum_of(header), "'{}' is not a tar archive, or is damaged{}",
                       archive_.string(), after_last());
    type_ = header[156];
    const std::string_view prefix =
        header.substr(257, 6) == std::string_view("ustar\0", 6) ? text_at(header, 345, 155) : "";
    const std::string_view name = text_at(header, 0, 100);
    name_ = !long_name_.empty() ? long_name_
            : prefix.empty()    ? std::string(name)
                                : fmt::format("{}/{}", prefix, name);
    const std::optional<std::size_t> size = octal_at(header, 124, 12);
    const bool names = type_ == 'x' || type_ == 'g' || type_ == 'L';
    require<DataError>(size && *size <= (names ? kMostNames : kMostFile),
                       "the archive '{}' holds '{}', which is larger than {} bytes",
                       archive_.string(), escaped(name_), names ? kMostNames : kMostFile);
    if (!names) long_name_.clear();
    padding_ = (kBlock - *size % kBlock) % kBlock;
    left_ = *size + padding_;
    in_header_ = left_ == 0;
    if (in_header_) read_content("");
  }

  void read_content(std::string_view content) {
    switch (type_) {
      case 'x':
        if (const std::optional<std::string> path = path_attribute(content)) long_name_ = *path;
        return;
      case 'L': long_name_ = text_at(content, 0, content.size()); return;
      case 'g':
      case '5': return;  // facts about the archive; a folder
      case '0':
      case '7':
      case '\0': break;
      default:
        fail<DataError>(
            "the archive '{}' holds '{}', a link or a device; expected files and folders",
            archive_.string(), escaped(name_));
    }
    require<DataError>(stays_inside(),
                       "the archive '{}' holds the path '{}'; expected one inside "
                       "the archive's folder",
                       archive_.string(), escaped(name_));
    require<DataError>(++files_ <= kMostFiles, "the archive '{}' holds more than {} files",
                       archive_.string(), kMostFiles);
    take_(name_, content);
    last_ = name_;
  }

  bool stays_inside() const {
    const fs::path path = name_;
    return path.is_relative() && path.has_filename() && name_.find('\0') == std::string::npos &&
           std::ranges::none_of(path, [](const fs::path& part) { return part == ".."; });
  }

  std::string after_last() const {
    return last_.empty() ? "" : fmt::format(" after '{}'", escaped(last_));
  }

  const fs::path& archive_;
  const TakeFile& take_;
  std::string part_;  ///< of a header or a content, as far as it has come
  bool in_header_ = true;
  bool ended_ = false;
  char type_ = '0';
  std::string name_;
  std::string long_name_;    ///< of the next header
  std::string last_;         ///< the last file that was taken
  std::size_t left_ = 0;     ///< bytes of a content and its padding that are still to come
  std::size_t padding_ = 0;  ///< bytes after a content
  std::size_t files_ = 0;
};

}  // namespace

bool is_tar_name(const fs::path& path) {
  constexpr std::array<std::string_view, 5> kEnds{".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz"};
  const std::string name = path.filename().string();
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return name.ends_with(end); });
}

void read_tar(const fs::path& archive, const TakeFile& take) {
  TarReader reader(archive, take);
  read_pieces(archive, kMostBytes, [&](std::string_view piece) { return reader.add(piece); });
  reader.finish();
}

void unpack_tar(const fs::path& archive, const fs::path& folder) {
  StagedFolder staged(folder);
  read_tar(archive, [&](const std::string& path, std::string_view content) {
    const fs::path inside = fs::path(path).lexically_normal();
    if (inside.has_parent_path()) staged.make_folder(inside.parent_path());
    staged.write(inside, content);
  });
  staged.commit();
}

}  // namespace linnet
