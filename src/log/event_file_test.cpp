// SPDX-License-Identifier: Apache-2.0
#include "log/event_file.h"

#include <gtest/gtest.h>
#include <linnet/error.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "message_of.h"
#include "temporary_folder.h"

namespace linnet {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

/// The data of a file's records, whose lengths are checked. tests/interop reads such files, with
/// their checksums, by TensorBoard's own reader.
std::vector<std::string> records_of(const std::filesystem::path& path) {
  const std::string file = read_file(path);
  std::vector<std::string> records;
  for (std::size_t at = 0; at < file.size();) {
    std::uint64_t length = 0;
    std::memcpy(&length, file.data() + at, sizeof length);
    records.push_back(file.substr(at + 12, length));
    EXPECT_EQ(records.back().size(), length);
    at += 12 + length + 4;
  }
  return records;
}

std::string event_of(const ProtobufMessage& content) { return content.encoded(); }

TEST(Crc32c, IsThatOfTheStandard) {
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);            // the check value of CRC-32/ISCSI
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);  // RFC 3720, B.4
}

TEST(ProtobufMessage, EncodesAsTheSpecificationSays) {
  const std::array<double, 1> one{1};
  EXPECT_EQ(ProtobufMessage().integer(1, 150).encoded(), std::string("\x08\x96\x01"));
  EXPECT_EQ(ProtobufMessage().integer(1, -1).encoded(),
            std::string("\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"));
  EXPECT_EQ(ProtobufMessage().bytes(2, "testing").encoded(), std::string("\x12\x07testing"));
  EXPECT_EQ(ProtobufMessage().real32(5, 1).encoded(), std::string("\x2D\0\0\x80\x3F", 5));
  EXPECT_EQ(ProtobufMessage().packed(6, one).encoded(),
            std::string("\x32\x08\0\0\0\0\0\0\xF0\x3F", 10));
}

TEST(EventFile, BeginsWithItsVersionAndTheChecksumOfALength) {
  const TemporaryFolder folder;
  const EventFile file(folder / "run");
  const std::string bytes = read_file(file.path());
  const auto records = records_of(file.path());
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].substr(9), event_of(ProtobufMessage().bytes(3, "brain.Event:2")));
  // 24 bytes: a masked checksum that TensorFlow's own files begin with as well.
  EXPECT_EQ(bytes.substr(0, 12), std::string("\x18\0\0\0\0\0\0\0\xA3\x7F\x4B\x22", 12));
}

TEST(EventFile, EachLogHasItsOwn) {
  const TemporaryFolder folder;
  const EventFile one(folder.path());
  const EventFile two(folder.path());
  EXPECT_NE(one.path(), two.path());
}

TEST(EventFile, WritesScalars) {
  const TemporaryFolder folder;
  EventFile file(folder.path());
  file.scalar("loss/train", 0.5, 300);
  const ProtobufMessage value = ProtobufMessage().bytes(1, "loss/train").real32(2, 0.5F);
  const ProtobufMessage values = ProtobufMessage().bytes(1, value.encoded());
  EXPECT_EQ(records_of(file.path()).at(1).substr(9),
            ProtobufMessage().integer(2, 300).bytes(5, values.encoded()).encoded());
}

TEST(EventFile, HistogramsCountEveryFiniteValueOnce) {
  const TemporaryFolder folder;
  EventFile file(folder.path());
  const float nan = std::numeric_limits<float>::quiet_NaN();
  file.histogram("equal", std::array<float, 3>{2, 2, nan}, 1);
  const std::array<double, 1> limit{2};
  const std::array<double, 1> count{2};
  const ProtobufMessage equal = ProtobufMessage()
                                    .real64(1, 2)
                                    .real64(2, 2)
                                    .real64(3, 2)
                                    .real64(4, 4)
                                    .real64(5, 8)
                                    .packed(6, limit)
                                    .packed(7, count);
  EXPECT_NE(records_of(file.path()).at(1).find(equal.encoded()), std::string::npos);
  file.histogram("nothing", std::array<float, 1>{nan}, 1);
  EXPECT_EQ(records_of(file.path()).size(), 2U);
  file.histogram("spread", std::array<float, 4>{-1, 0, 1, 1}, 2);
  std::vector<double> counts(64);
  counts.front() = 1;
  counts[31] = 1;  // 0 is the upper limit of its bucket
  counts.back() = 2;
  EXPECT_NE(records_of(file.path()).at(2).find(ProtobufMessage().packed(7, counts).encoded()),
            std::string::npos);
}

TEST(EventFile, SaysWhatCannotBeWritten) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "file", "x");
  EXPECT_EQ(message_of([&] { EventFile(folder / "file"); }),
            "cannot make the folder '" + (folder / "file").string() + "': Not a directory");
}

}  // namespace
}  // namespace linnet
