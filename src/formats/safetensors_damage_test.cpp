// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <array>

#include "safetensors_file.h"
#include "temporary_folder.h"

namespace linnet {
namespace {

using testing::safetensors_bytes;
using testing::safetensors_error;
using testing::TemporaryFolder;

class DamagedSafetensors : public ::testing::Test {
 protected:
  std::string error(const std::string& header, std::size_t data = 0) {
    return safetensors_error(path_, safetensors_bytes(header, data));
  }
  /// A small valid file of two tensors and metadata.
  std::string valid() {
    const std::array<float, 3> floats{1, 2, 3};
    const std::array<std::uint8_t, 4> bytes{4, 5, 6, 7};
    write_safetensors(
        path_,
        std::vector<TensorView>{{"w", DType::f32, {3, 1}, std::as_bytes(std::span(floats))},
                                {"b", DType::u8, {2, 2}, std::as_bytes(std::span(bytes))}},
        {{"k", "v"}});
    return read_file(path_);
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "x.safetensors";
};

std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape,
                   const std::string& offsets) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":{}}})", name, dtype, shape,
                     offsets);
}

/// A header of these entries.
std::string header_of(const std::vector<std::string>& entries) {
  return fmt::format("{{{}}}", fmt::join(entries, ","));
}

TEST_F(DamagedSafetensors, IsNamedAndRefusedWhereverItIsCut) {
  const std::string file = valid();
  ASSERT_EQ(safetensors_error(path_, file), "");
  for (std::size_t size = 0; size < file.size(); ++size) {
    const std::string message = safetensors_error(path_, file.substr(0, size));
    EXPECT_NE(message, "") << size << " of " << file.size() << " bytes";
    EXPECT_FALSE(message.starts_with("not named")) << message;
  }
  EXPECT_EQ(safetensors_error(path_, file.substr(0, 7)),
            "it has 7 bytes, too few for a safetensors file");
  EXPECT_EQ(
      safetensors_error(path_, file.substr(0, 9)),
      "it is cut short or not a safetensors file: its header needs 144 bytes, and 1 are left");
  EXPECT_EQ(safetensors_error(path_, file.substr(0, file.size() - 1)),
            "tensor 'b' ends at byte 16 of 15 bytes of data");
  EXPECT_EQ(safetensors_error(path_, file + "x"), "its last 1 bytes belong to no tensor");
}

// A flipped byte of a name or of the data can't be seen; then the file must still be consistent.
TEST_F(DamagedSafetensors, NeverCrashesForAFlippedByte) {
  const std::string file = valid();
  int refused = 0;
  for (std::size_t i = 0; i < file.size(); ++i) {
    for (int flip : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
      std::string damaged = file;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      testing::write_quickly(path_, damaged);
      try {
        const SafetensorsFile read = read_safetensors(path_);
        std::size_t bytes = 0;
        for (const TensorView& t : read.tensors()) {
          EXPECT_EQ(t.data.size(), size_of(t.dtype) * static_cast<std::size_t>(t.shape.elements()));
          bytes += t.data.size();
        }
        EXPECT_EQ(bytes, 16U) << "byte " << i << " ^ " << flip;
      } catch (const Error& e) {
        ++refused;
        EXPECT_TRUE(std::string(e.what()).starts_with("cannot read '")) << e.what();
      }
    }
  }
  EXPECT_GT(refused, 100 * 9);  // of 168 bytes: the length's and most of the header's
}

TEST_F(DamagedSafetensors, SaysThatItsHeaderIsLongerThanTheFile) {
  for (const std::string& length :
       {std::string(8, '\xff'), std::string(7, '\0') + '\x80', '\x03' + std::string(7, '\0')}) {
    EXPECT_TRUE(safetensors_error(path_, length + "{}")
                    .starts_with("it is cut short or not a safetensors"));
  }
}

TEST_F(DamagedSafetensors, IsNotMistakenForAFileOfAnotherKind) {
  for (const char* other :
       {"day,temperature\n2024-01-01,3.5\n", "PK\x03\x04 an archive of files"}) {
    EXPECT_EQ(safetensors_error(path_, other), "it is not a safetensors file");
  }
}

TEST_F(DamagedSafetensors, SaysWhatIsWrongWithItsJson) {
  EXPECT_EQ(error(""), "its header is not a JSON object");
  EXPECT_EQ(error("[]"), "its header is not a JSON object");
  EXPECT_EQ(error("{} {}"), "its header is not valid JSON (byte 4)");
  EXPECT_EQ(error("{\"a\":"), "its header is not valid JSON (byte 6)");
  EXPECT_EQ(error(std::string("{}\0{}", 5)), "its header is not a JSON object");
  EXPECT_EQ(error("{\"a\":1e999}"), "its header is not valid JSON");
  EXPECT_EQ(error("{\"\xff\":1}"), "its header is not valid JSON (byte 3)");
  EXPECT_EQ(error("{\"a\":" + std::string(1'000'000, '[')), "its header is nested too deeply");
  EXPECT_EQ(error("{\"a\":{\"b\":{\"c\":{}}}}"), "its header is nested too deeply");
}

TEST_F(DamagedSafetensors, SaysWhatIsNamedTwice) {
  EXPECT_EQ(error(header_of({tensor("a", "U8", "[1]", "[0,1]"), tensor("a", "U8", "[1]", "[1,2]")}),
                  2),
            "its header names 'a' twice");
  EXPECT_EQ(error(R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1),
            "its header names 'dtype' twice");
  EXPECT_EQ(error(R"({"__metadata__":{"k":"1","k":"2"}})"), "its header names 'k' twice");
}

TEST_F(DamagedSafetensors, SaysWhichTensorIsDescribedWrongly) {
  const auto one = [&](const std::string& dtype, const std::string& shape,
                       const std::string& offsets) {
    return error(header_of({tensor("a", dtype, shape, offsets)}), 4);
  };
  ASSERT_EQ(one("F32", "[1]", "[0,4]"), "");
  EXPECT_EQ(one("F8_E4M3", "[4]", "[0,4]"),
            "tensor 'a' has the element type 'F8_E4M3'; expected one of F32, F64, F16, BF16, U8, "
            "I32, I64, BOOL, I8, I16, U16, U32, U64");
  EXPECT_EQ(one("BOOL", "[4]", "[0,4]"), "");
  const std::string numbers = header_of({tensor("a", "U64", "[1]", "[0,8]")});
  EXPECT_EQ(testing::safetensors_error(path_, safetensors_bytes(numbers) + std::string(8, '\xFF')),
            "tensor 'a' holds 18446744073709551615, which i64 cannot hold");
  const std::string bools = header_of({tensor("a", "BOOL", "[2]", "[0,2]")});
  EXPECT_EQ(testing::safetensors_error(path_, safetensors_bytes(bools) + "\1\2"),
            "tensor 'a' holds the byte 2, which is not a bool");
  const std::string no_shape = "tensor 'a' has no shape of whole numbers";
  EXPECT_EQ(one("F32", "[-1]", "[0,4]"), no_shape);
  EXPECT_EQ(one("F32", "[1.0]", "[0,4]"), no_shape);
  EXPECT_EQ(one("F32", "1", "[0,4]"), no_shape);
  EXPECT_EQ(one("F32", "[9223372036854775808]", "[0,4]"), no_shape);
  const std::string no_offsets = "tensor 'a' has no data_offsets of the form [begin, end]";
  EXPECT_EQ(one("F32", "[1]", "[4,0]"), no_offsets);
  EXPECT_EQ(one("F32", "[1]", "[0]"), no_offsets);
  EXPECT_EQ(one("F32", "[1]", "[0,2,4]"), no_offsets);
  EXPECT_EQ(one("F32", "[1]", "[\"0\",4]"), no_offsets);
  EXPECT_EQ(one("F32", "[2]", "[0,8]"), "tensor 'a' ends at byte 8 of 4 bytes of data");
  EXPECT_EQ(one("F32", "[2]", "[0,4]"), "tensor 'a', f32 (2), does not fit into 4 bytes");
  EXPECT_EQ(one("U8", "[3]", "[0,4]"), "tensor 'a', u8 (3), does not fit into 4 bytes");
  // The product is 4 modulo 2^64.
  EXPECT_EQ(one("U8", "[4611686018427387905,4]", "[0,4]"),
            "tensor 'a', u8 (4611686018427387905, 4), does not fit into 4 bytes");
  const std::string no_description =
      "tensor 'a' is not described by dtype, shape and data_offsets alone";
  EXPECT_EQ(error("{\"a\":1}"), no_description);
  EXPECT_EQ(error("{\"a\":{}}"), no_description);
  EXPECT_EQ(error(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1}})", 1),
            no_description);
  EXPECT_EQ(error(R"({"a":{"x":"U8","shape":[1],"data_offsets":[0,1]}})", 1),
            "tensor 'a' has no dtype");
}

TEST_F(DamagedSafetensors, SaysWhichBytesBelongToNoneOrToTwo) {
  const auto two = [&](const std::string& first, const std::string& second, std::size_t data) {
    return error(header_of({tensor("a", "U8", "[4]", first), tensor("b", "U8", "[4]", second)}),
                 data);
  };
  ASSERT_EQ(two("[0,4]", "[4,8]", 8), "");
  ASSERT_EQ(two("[4,8]", "[0,4]", 8), "");
  EXPECT_EQ(two("[0,4]", "[3,7]", 7), "tensor 'b' overlaps the one before it");
  EXPECT_EQ(two("[0,4]", "[0,4]", 4), "tensor 'b' overlaps the one before it");
  EXPECT_EQ(two("[0,4]", "[5,9]", 9), "no tensor covers bytes 4 to 5 of the data");
  EXPECT_EQ(two("[1,5]", "[5,9]", 9), "no tensor covers bytes 0 to 1 of the data");
  EXPECT_EQ(two("[0,4]", "[4,8]", 9), "its last 1 bytes belong to no tensor");
  EXPECT_EQ(error("{}", 3), "its last 3 bytes belong to no tensor");
  EXPECT_EQ(error(header_of({tensor("a", "U8", "[4]", "[0,4]"), tensor("e", "U8", "[0]", "[2,2]")}),
                  4),
            "tensor 'e' overlaps the one before it");
}

TEST_F(DamagedSafetensors, SaysWhatIsWrongWithItsMetadata) {
  EXPECT_EQ(error("{\"__metadata__\":1}"), "its __metadata__ is not a JSON object");
  EXPECT_EQ(error("{\"__metadata__\":{\"k\":1}}"), "'k' of its __metadata__ is not a string");
}

}  // namespace
}  // namespace linnet
