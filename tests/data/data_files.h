// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/error.h>
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace linnet::test {

/// An empty folder named after the running test, removed with what it holds at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(::testing::TempDir()) /
            (std::string("linnet-") + info->test_suite_name() + "-" + info->name());
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

  /// Writes a file, with the folders above it, and returns its path.
  std::filesystem::path write(std::string_view name, std::string_view content) const {
    const std::filesystem::path path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    if (!file) throw std::runtime_error("cannot write " + path.string());
    return path;
  }

 private:
  std::filesystem::path path_;
};

/// The message of the Error that `action` throws; "" and a failed test where it throws none.
template <class Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "expected an Error";
  return "";
}

/// 'path', as messages show it.
inline std::string quoted(const std::filesystem::path& path) {
  return fmt::format("'{}'", path.string());
}

inline std::string number(std::uint32_t value, int bytes, bool big_endian) {
  std::string text;
  for (int i = 0; i < bytes; ++i) {
    text += static_cast<char>(value >> 8 * (big_endian ? bytes - 1 - i : i));
  }
  return text;
}

/// An IDX file: the magic, the dimensions, then the bytes 0, 1, 2, ... (modulo `modulus`).
inline std::string idx(const std::vector<std::uint32_t>& dims, int modulus = 256) {
  std::string file = number(0x800 + static_cast<std::uint32_t>(dims.size()), 4, true);
  std::uint32_t count = 1;
  for (const std::uint32_t dim : dims) {
    file += number(dim, 4, true);
    count *= dim;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    file += static_cast<char>(i % static_cast<std::uint32_t>(modulus));
  }
  return file;
}

inline std::string gzip(const std::string& content) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("zlib");
  }
  std::string packed(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// The four files of MNIST with six images of 2 x 3 for training and four for testing.
inline void write_mnist(const TemporaryFolder& folder, const std::string& where = "") {
  folder.write(where + "train-images-idx3-ubyte", idx({6, 2, 3}));
  folder.write(where + "train-labels-idx1-ubyte.gz", gzip(idx({6}, 3)));
  folder.write(where + "t10k-images-idx3-ubyte.gz", gzip(idx({4, 2, 3})));
  folder.write(where + "t10k-labels-idx1-ubyte", idx({4}, 4));
}

}  // namespace linnet::test
