// SPDX-License-Identifier: Apache-2.0
#include "formats/zip.h"

#include <gtest/gtest.h>
#include <linnet/error.h>

#include <functional>

#include "base/files.h"
#include "temporary_folder.h"

namespace linnet {
namespace {

using testing::TemporaryFolder;

std::string content(const ZipEntry& entry) {
  std::string bytes(entry.bytes, '\0');
  const ReadBytes read = ZipFile::open(entry);
  const std::size_t half = bytes.size() / 2;  // in two pieces
  EXPECT_EQ(read(std::span(bytes).first(half)), half);
  EXPECT_EQ(read(std::span(bytes).subspan(half)), bytes.size() - half);
  return bytes;
}

class Zip : public ::testing::Test {
 protected:
  /// An archive of two files.
  std::string valid() {
    const std::vector<ZipSource> files{{"a.npy", {"first ", "file"}}, {"b/c.npy", {"second"}}};
    write_zip(path_, files);
    return read_file(path_);
  }

  /// Everything that reading these bytes throws, without the path; "" if nothing.
  std::string error(const std::string& bytes) {
    write_file_atomically(path_, bytes);
    try {
      const ZipFile file(path_);
      for (const ZipEntry& entry : file.entries()) content(entry);
    } catch (const DataError& failure) {
      const std::string begin = "cannot read '" + path_.string() + "': ";
      const std::string text = failure.what();
      return text.starts_with(begin) ? text.substr(begin.size()) : text;
    }
    return "";
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "x.npz";
};

/// Changes the two bytes from `at` on, counted from the end where negative.
std::string with(std::string bytes, std::ptrdiff_t at, std::uint16_t value) {
  const auto place = static_cast<std::size_t>(at < 0 ? std::ssize(bytes) + at : at);
  bytes[place] = static_cast<char>(value & 0xFFU);
  bytes[place + 1] = static_cast<char>(value >> 8U);
  return bytes;
}

// Each file may unpack to 1,032 times its bytes; all of them are bounded too.
TEST_F(Zip, RefusesFilesThatTogetherFillMemory) {
  const std::string packed(4'400'000, 'x');
  write_zip(path_, std::vector<ZipSource>{{"a.npy", {packed}}, {"b.npy", {packed}}});
  std::string bytes = read_file(path_);
  constexpr std::uint32_t kClaimed = 3'000'000'000;
  const auto claim = [&](const std::string& header, std::size_t method, std::size_t size) {
    for (std::size_t at = bytes.find(header); at != std::string::npos;
         at = bytes.find(header, at + 1)) {
      bytes = with(bytes, static_cast<std::ptrdiff_t>(at + method), 8);  // deflated
      bytes = with(bytes, static_cast<std::ptrdiff_t>(at + size), kClaimed & 0xFFFFU);
      bytes = with(bytes, static_cast<std::ptrdiff_t>(at + size + 2), kClaimed >> 16U);
    }
  };
  claim("PK\x03\x04", 8, 22);
  claim("PK\x01\x02", 10, 24);
  EXPECT_EQ(error(bytes), "its files have more than 4294967296 bytes in all; use .safetensors");
}

TEST_F(Zip, ReadsBackWhatItWrote) {
  EXPECT_EQ(error(valid()), "");
  const ZipFile file(path_);
  ASSERT_EQ(file.entries().size(), 2U);
  EXPECT_EQ(file.entries()[0].name, "a.npy");
  EXPECT_EQ(content(file.entries()[0]), "first file");
  EXPECT_EQ(file.entries()[1].name, "b/c.npy");
  EXPECT_EQ(content(file.entries()[1]), "second");
  write_zip(path_, std::vector<ZipSource>{});
  EXPECT_TRUE(ZipFile(path_).entries().empty());
}

TEST_F(Zip, RefusesWhatIsCutAnywhere) {
  const std::string bytes = valid();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(error(bytes.substr(0, size)), "") << size << " of " << bytes.size() << " bytes";
    EXPECT_NE(error(bytes.substr(bytes.size() - size)), "") << "the last " << size << " bytes";
  }
  EXPECT_EQ(error(""), "it is cut short or not a zip archive: its end record is missing");
}

TEST_F(Zip, RefusesWhatIsDamaged) {
  const std::string bytes = valid();
  const auto directory = static_cast<std::ptrdiff_t>(bytes.find("PK\x01\x02"));
  EXPECT_EQ(error(with(bytes, 35, 'X')), "'a.npy' in it is damaged: its CRC-32 is wrong");
  EXPECT_EQ(error(with(bytes, 30, 'b')), "'a.npy' in it has another name in its header");
  EXPECT_EQ(error(with(bytes, directory + 8, 1)), "'a.npy' in it is encrypted");
  EXPECT_EQ(error(with(bytes, directory + 10, 12)),
            "'a.npy' in it is compressed by method 12; expected 0 (stored) or 8 (deflate)");
  EXPECT_EQ(error(with(bytes, directory + 24, 11)),
            "'a.npy' in it cannot unpack from 10 to 11 bytes");
  EXPECT_EQ(error(with(bytes, directory + 42, 1)), "'a.npy' in it has no header at byte 1");
  EXPECT_EQ(error(with(with(bytes, directory + 20, 20), directory + 24, 20)),
            "files in it overlap");
  EXPECT_EQ(error(with(bytes, -12, 1)), "it is one of several disks");
  EXPECT_EQ(error(with(with(bytes, -14, 3), -12, 3)), "its directory has 2 entries instead of 3");
  const std::string zip64 = with(with(bytes, directory + 24, 0xFFFF), directory + 26, 0xFFFF);
  EXPECT_EQ(error(zip64), "'a.npy' in it needs zip64, for archives above 2 GiB: use .safetensors");
  // Ten bytes of deflate can't become 20,000.
  const std::string bomb = with(with(bytes, directory + 10, 8), directory + 24, 20000);
  EXPECT_EQ(error(bomb), "'a.npy' in it cannot unpack from 10 to 20000 bytes");
  EXPECT_NE(error(with(bytes, directory + 10, 8)), "");  // the bytes are no deflate data
}

TEST_F(Zip, RefusesANameThatIsThereTwice) {
  write_zip(path_, std::vector<ZipSource>{{"a", {"1"}}, {"a", {"2"}}});
  EXPECT_EQ(error(read_file(path_)), "it holds 'a' twice");
}

}  // namespace
}  // namespace linnet
