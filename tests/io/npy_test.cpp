// SPDX-License-Identifier: Apache-2.0
#include "io/npy.h"

#include <gtest/gtest.h>
#include <linnet/error.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/files.h"
#include "base/temporary_folder.h"

namespace linnet {
namespace {

using testing::TemporaryFolder;

/// What numpy.save writes: magic, version, a header padded to 128 bytes in all, the data.
std::string npy(const std::string& descr, const std::string& shape, const std::string& data,
                int version = 1, const std::string& fortran = "False") {
  const std::size_t before = version == 1 ? 10 : 12;
  std::string header =
      "{'descr': " + descr + ", 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
  header.resize(127 - before, ' ');
  std::string file = "\x93NUMPY";
  file += {static_cast<char>(version), '\0', static_cast<char>(header.size() + 1), '\0'};
  if (version > 1) file += std::string(2, '\0');
  return file + header + "\n" + data;
}

template <std::size_t N>
std::string bytes(const char (&literal)[N]) {
  return {literal, N - 1};
}

template <class T>
std::vector<T> elements(const NpyArray& array) {
  std::vector<T> values(array.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

class Npy : public ::testing::Test {
 protected:
  NpyArray read(const std::string& content) {
    testing::write_quickly(path_, content);
    return read_npy(path_);
  }
  /// What follows "cannot read '<path>': ".
  std::string error(const std::string& content) {
    try {
      read(content);
    } catch (const Error& e) {
      const std::string begin = "cannot read '" + path_.string() + "': ";
      const std::string text = e.what();
      return text.starts_with(begin) ? text.substr(begin.size()) : "not named: " + text;
    }
    return "";
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "x.npy";
};

// numpy 2.4: [[1, -2.5, 3], [4, 5, 1e-3]] as float32
const std::string kFloats = npy("'<f4'", "(2, 3)",
                                bytes("\x00\x00\x80\x3f\x00\x00\x20\xc0\x00\x00\x40\x40\x00\x00\x80"
                                      "\x40\x00\x00\xa0\x40\x6f\x12\x83\x3a"));

TEST_F(Npy, ReadsWhatNumpyWrites) {
  const NpyArray floats = read(kFloats);
  EXPECT_EQ(floats.shape, (Shape{2, 3}));
  EXPECT_EQ(floats.dtype, DType::f32);
  EXPECT_EQ(elements<float>(floats), (std::vector<float>{1, -2.5F, 3, 4, 5, 1e-3F}));

  const NpyArray doubles =
      read(npy("'<f8'", "(2,)",
               bytes("\x9a\x99\x99\x99\x99\x99\xb9\x3f\x9c\x75\x00\x88\x3c\xe4\x37\xfe")));
  EXPECT_EQ(doubles.shape, (Shape{2}));
  EXPECT_EQ(doubles.dtype, DType::f64);
  EXPECT_EQ(elements<double>(doubles), (std::vector<double>{0.1, -1e300}));

  const NpyArray pixels = read(npy("'|u1'", "(2, 1, 2)", bytes("\x00\x01\x02\xff")));
  EXPECT_EQ(pixels.shape, (Shape{2, 1, 2}));
  EXPECT_EQ(pixels.dtype, DType::u8);
  EXPECT_EQ(elements<std::uint8_t>(pixels), (std::vector<std::uint8_t>{0, 1, 2, 255}));
}

TEST_F(Npy, ReadsVersionsScalarsAndNothing) {
  const NpyArray second = read(npy("'<i4'", "(1,)", bytes("\x07\x00\x00\x00"), 2));
  EXPECT_EQ(second.dtype, DType::i32);
  EXPECT_EQ(elements<std::int32_t>(second), std::vector<std::int32_t>{7});
  const NpyArray scalar = read(npy("'<i4'", "()", bytes("\x08\x00\x00\x00"), 3));
  EXPECT_EQ(scalar.shape, Shape{});
  EXPECT_EQ(elements<std::int32_t>(scalar), std::vector<std::int32_t>{8});
  const NpyArray empty = read(npy("'<f4'", "(0, 3)", ""));
  EXPECT_EQ(empty.shape, (Shape{0, 3}));
  EXPECT_TRUE(empty.bytes.empty());
}

TEST_F(Npy, NarrowsWideIntegersThatFit) {
  const NpyArray labels =
      read(npy("'<i8'", "(2,)",
               bytes("\xfb\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x00\x00\x00\x00")));
  EXPECT_EQ(labels.dtype, DType::i32);
  EXPECT_EQ(elements<std::int32_t>(labels), (std::vector<std::int32_t>{-5, 2147483647}));
  EXPECT_EQ(error(npy("'<i8'", "(1,)", bytes("\x00\x00\x00\x80\x00\x00\x00\x00"))),
            "element 0 is 2147483648, which does not fit 32 bits");
}

TEST_F(Npy, SaysWhatItDoesNotRead) {
  const std::string zeros(16, '\0');
  EXPECT_EQ(error(npy("'>f4'", "(4,)", zeros)),
            "its elements are '>f4'; expected '<f4', '<f8', '|u1', '<i4' or '<i8'");
  EXPECT_EQ(error(npy("'|b1'", "(16,)", zeros)),
            "its elements are '|b1'; expected '<f4', '<f8', '|u1', '<i4' or '<i8'");
  EXPECT_EQ(error(npy("[('a', '<i4')]", "(4,)", zeros)),
            "its header is damaged or has a structured type");
  EXPECT_EQ(error(npy("'<f4'", "(2, 2)", zeros, 1, "True")),
            "it is in Fortran order; save numpy.ascontiguousarray(x)");
  EXPECT_EQ(error(npy("'<f4'", "(4,)", zeros, 4)), "expected version 1.0, 2.0 or 3.0; got 4.0");
  EXPECT_EQ(error("PK\x03\x04 a zip file"),
            "it is no .npy file: it does not begin with '\\x93NUMPY' and a version");
}

TEST_F(Npy, RefusesShapesThatTheFileDoesNotHold) {
  EXPECT_EQ(error(npy("'<f4'", "(2,)", "1234567")),
            "its shape (2) asks for 8 bytes of data; it has 7");
  EXPECT_EQ(error(npy("'<f4'", "(2,)", "123456789")),
            "its shape (2) asks for 8 bytes of data; it has 9");
  EXPECT_EQ(error(npy("'<f4'", "(1000000000000,)", "")),
            "its shape (1000000000000) asks for 4000000000000 bytes of data; it has 0");
  EXPECT_EQ(error(npy("'<f8'", "(4294967296, 4294967296)", "")),
            "its shape (4294967296, 4294967296) is impossible");
  for (const char* shape : {"(-1,)", "(9223372036854775808,)", "(2.5,)", "(2", "2", "[2]", "(,)"}) {
    EXPECT_TRUE(error(npy("'<f4'", shape, "")).starts_with("its header is damaged")) << shape;
  }
}

TEST_F(Npy, RefusesAFileCutAnywhere) {
  ASSERT_EQ(error(kFloats), "");
  for (std::size_t size = 0; size < kFloats.size(); ++size) {
    EXPECT_NE(error(kFloats.substr(0, size)), "") << size << " bytes";
  }
}

TEST_F(Npy, SurvivesEveryFlippedByte) {
  for (std::size_t i = 0; i < kFloats.size(); ++i) {
    for (const char flip : {'\x01', '\x20', '\x80', '\xff'}) {
      std::string file = kFloats;
      file[i] = static_cast<char>(file[i] ^ flip);
      try {
        const NpyArray array = read(file);  // e.g. another number, or '|u1' of another shape
        EXPECT_EQ(array.bytes.size(),
                  size_of(array.dtype) * static_cast<std::size_t>(array.shape.elements()));
      } catch (const Error& e) {
        EXPECT_TRUE(std::string(e.what()).starts_with("cannot read '")) << e.what();
      }
    }
  }
}

TEST_F(Npy, WritesWhatNumpyWrites) {
  const std::array<float, 6> floats{1, -2.5F, 3, 4, 5, 1e-3F};
  write_npy(path_, DType::f32, {2, 3}, std::as_bytes(std::span(floats)));
  EXPECT_EQ(read_file(path_), kFloats);
  const std::array<std::int32_t, 1> scalar{8};
  write_npy(path_, DType::i32, {}, std::as_bytes(std::span(scalar)));
  EXPECT_EQ(read_file(path_), npy("'<i4'", "()", bytes("\x08\x00\x00\x00")));
  const std::array<std::uint8_t, 3> pixels{1, 2, 3};
  write_npy(path_, DType::u8, {3}, std::as_bytes(std::span(pixels)));
  EXPECT_EQ(read_file(path_), npy("'|u1'", "(3,)", "\x01\x02\x03"));
}

TEST_F(Npy, RefusesToWriteAnotherSizeOrType) {
  const std::array<float, 6> floats{};
  EXPECT_THROW(write_npy(path_, DType::f32, {2, 2}, std::as_bytes(std::span(floats))),
               InternalError);
  EXPECT_THROW(write_npy(path_, DType::bf16, {12}, std::as_bytes(std::span(floats))),
               InternalError);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace linnet
