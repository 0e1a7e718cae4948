// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/error.h>
#include <linnet/tensor.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "temporary_folder.h"

namespace linnet {
namespace {

using testing::TemporaryFolder;

/// Returns what numpy.save writes: magic, version, a header padded to 128 bytes in all, the data.
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
std::vector<T> elements(const Tensor& array) {
  return {array.as<T>().begin(), array.as<T>().end()};
}

class Npy : public ::testing::Test {
 protected:
  Tensor read(const std::string& content) {
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
  const Tensor floats = read(kFloats);
  EXPECT_EQ(floats.shape(), (Shape{2, 3}));
  EXPECT_EQ(floats.dtype(), DType::f32);
  EXPECT_EQ(elements<float>(floats), (std::vector<float>{1, -2.5F, 3, 4, 5, 1e-3F}));

  const Tensor doubles =
      read(npy("'<f8'", "(2,)",
               bytes("\x9a\x99\x99\x99\x99\x99\xb9\x3f\x9c\x75\x00\x88\x3c\xe4\x37\xfe")));
  EXPECT_EQ(doubles.shape(), (Shape{2}));
  EXPECT_EQ(doubles.dtype(), DType::f64);
  EXPECT_EQ(elements<double>(doubles), (std::vector<double>{0.1, -1e300}));

  const Tensor pixels = read(npy("'|u1'", "(2, 1, 2)", bytes("\x00\x01\x02\xff")));
  EXPECT_EQ(pixels.shape(), (Shape{2, 1, 2}));
  EXPECT_EQ(pixels.dtype(), DType::u8);
  EXPECT_EQ(elements<std::uint8_t>(pixels), (std::vector<std::uint8_t>{0, 1, 2, 255}));
}

TEST_F(Npy, ReadsVersionsScalarsAndNothing) {
  const Tensor second = read(npy("'<i4'", "(1,)", bytes("\x07\x00\x00\x00"), 2));
  EXPECT_EQ(second.dtype(), DType::i32);
  EXPECT_EQ(elements<std::int32_t>(second), std::vector<std::int32_t>{7});
  const Tensor scalar = read(npy("'<i4'", "()", bytes("\x08\x00\x00\x00"), 3));
  EXPECT_EQ(scalar.shape(), Shape{});
  EXPECT_EQ(elements<std::int32_t>(scalar), std::vector<std::int32_t>{8});
  const Tensor empty = read(npy("'<f4'", "(0, 3)", ""));
  EXPECT_EQ(empty.shape(), (Shape{0, 3}));
  EXPECT_EQ(empty.elements(), 0);
}

TEST_F(Npy, ReadsWideIntegersHalvesAndBools) {
  const Tensor labels =
      read(npy("'<i8'", "(2,)",
               bytes("\xfb\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x80\x00\x00\x00\x00")));
  EXPECT_EQ(labels.dtype(), DType::i64);
  EXPECT_EQ(elements<std::int64_t>(labels), (std::vector<std::int64_t>{-5, 2147483648}));
  const Tensor halves = read(npy("'<f2'", "(2,)", bytes("\x00\x3c\x00\xc1")));
  EXPECT_EQ(halves.dtype(), DType::f16);
  EXPECT_EQ(elements<float>(halves.to(DType::f32)), (std::vector<float>{1, -2.5F}));
  const Tensor bools = read(npy("'|b1'", "(3,)", bytes("\x00\x01\x2a")));
  EXPECT_EQ(elements<bool>(bools), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(bools.bytes()[2], std::byte{1}) << "any other byte would be no bool";
}

TEST_F(Npy, SaysWhatItDoesNotRead) {
  const std::string zeros(16, '\0');
  EXPECT_EQ(error(npy("'>f4'", "(4,)", zeros)),
            "its elements are '>f4'; expected '<f4', '<f8', '<f2', '|u1', '<i4', '<i8' or '|b1'");
  EXPECT_EQ(error(npy("'<u2'", "(8,)", zeros)),
            "its elements are '<u2'; expected '<f4', '<f8', '<f2', '|u1', '<i4', '<i8' or '|b1'");
  EXPECT_EQ(error(npy("'<f4'", "(1, 1, 1, 1, 1, 1, 1, 1, 4)", zeros)),
            "expected a shape of at most 8 axes; got 9");
  EXPECT_EQ(error(npy("[('a', '<i4')]", "(4,)", zeros)),
            "its header is damaged or has a structured type");
  EXPECT_EQ(error(npy("'<f4'", "(2, 2)", zeros, 1, "True")),
            "it is in Fortran order; save numpy.ascontiguousarray(x)");
  EXPECT_EQ(error(npy("'<f4'", "(4,)", zeros, 4)), "expected version 1.0, 2.0 or 3.0; got 4.0");
  EXPECT_EQ(error("PK\x03\x04 a zip file"),
            "it is not an .npy file: it does not begin with '\\x93NUMPY' and a version");
}

TEST_F(Npy, RefusesShapesThatTheFileDoesNotHold) {
  EXPECT_EQ(error(npy("'<f4'", "(2,)", "1234567")),
            "its shape (2) needs 8 bytes of data; it has 7");
  EXPECT_EQ(error(npy("'<f4'", "(2,)", "123456789")),
            "its shape (2) needs 8 bytes of data; it has 9");
  EXPECT_EQ(error(npy("'<f4'", "(1000000000000,)", "")),
            "its shape (1000000000000) needs 4000000000000 bytes of data; it has 0");
  EXPECT_EQ(error(npy("'<f8'", "(4294967296, 4294967296)", "")),
            "its shape (4294967296, 4294967296) is invalid");
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
        const Tensor array = read(file);  // e.g. another number, or '|u1' of another shape
        EXPECT_EQ(array.bytes().size(),
                  size_of(array.dtype()) * static_cast<std::size_t>(array.elements()));
      } catch (const Error& e) {
        EXPECT_TRUE(std::string(e.what()).starts_with("cannot read '")) << e.what();
      }
    }
  }
}

TEST_F(Npy, WritesWhatNumpyWrites) {
  write_npy(path_, Tensor(std::vector<float>{1, -2.5F, 3, 4, 5, 1e-3F}, {2, 3}));
  EXPECT_EQ(read_file(path_), kFloats);
  write_npy(path_, Tensor(std::vector<std::int32_t>{8}, {}));
  EXPECT_EQ(read_file(path_), npy("'<i4'", "()", bytes("\x08\x00\x00\x00")));
  const std::array<std::uint8_t, 3> pixels{1, 2, 3};
  write_npy(path_, Tensor::borrow(pixels, {3}));
  EXPECT_EQ(read_file(path_), npy("'|u1'", "(3,)", "\x01\x02\x03"));
}

TEST_F(Npy, ReadsWhatItWroteInEveryType) {
  const Tensor numbers(std::vector<float>{0, 1, 1, 0}, {2, 1, 2});
  for (const DType dtype :
       {DType::f32, DType::f64, DType::f16, DType::u8, DType::i32, DType::i64, DType::boolean}) {
    write_npy(path_, numbers.to(dtype));
    EXPECT_TRUE(same_bits(read_npy(path_), numbers.to(dtype))) << to_string(dtype);
  }
  write_npy(path_, numbers.rows(1, 2));
  EXPECT_TRUE(same_bits(read_npy(path_), numbers.rows(1, 2)));
}

TEST_F(Npy, NumpyHasNoBfloat16) {
  try {
    write_npy(path_, Tensor(DType::bf16, {12}));
    ADD_FAILURE() << "expected an Error";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), "cannot write '" + path_.string() + "': NumPy has no type bf16");
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace linnet
