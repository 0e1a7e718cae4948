// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>

#include "base/check.h"
#include "data/save_dataset.h"
#include "io/npy.h"

namespace linnet {
namespace {

std::string_view as_text(const std::uint8_t* bytes, std::size_t count) {
  return {reinterpret_cast<const char*>(bytes), count};
}

void report(const SaveOptions& options, std::int64_t done, const DatasetPair& pair) {
  if (options.progress) options.progress(done, pair.train.size() + pair.test.size());
}

std::string big_endian(std::int64_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift & 0xFF);
  return text;
}

void save_idx_part(const Dataset& data, const Shape& sample, const std::string& part,
                   const StagedFolder& folder) {
  std::string images =
      big_endian(0x803) + big_endian(data.size()) + big_endian(sample[0]) + big_endian(sample[1]);
  images += as_text(data.bytes.data(), data.bytes.size());
  folder.write(part + "-images-idx3-ubyte", images);
  std::string labels = big_endian(0x801) + big_endian(data.size());
  for (const std::int32_t label : data.labels) labels += static_cast<char>(label);
  folder.write(part + "-labels-idx1-ubyte", labels);
}

constexpr std::int64_t kCifarPlane = 32 * 32;
constexpr std::int64_t kCifarFiles = 5;

/// The records [first, end): label bytes, then the planes of red, green and blue.
std::string cifar_records(const Dataset& data, std::int64_t first, std::int64_t end) {
  std::string out;
  out.reserve(static_cast<std::size_t>(end - first) * (3 * kCifarPlane + 2));
  for (std::int64_t i = first; i < end; ++i) {
    if (data.classes() == 100) out += '\0';
    out += static_cast<char>(data.labels[static_cast<std::size_t>(i)]);
    const std::uint8_t* pixels = data.bytes.data() + i * 3 * kCifarPlane;
    for (std::int64_t c = 0; c < 3; ++c) {
      for (std::int64_t p = 0; p < kCifarPlane; ++p) out += static_cast<char>(pixels[p * 3 + c]);
    }
  }
  return out;
}

void save_npy_part(const Dataset& data, const std::string& part,
                   const std::filesystem::path& folder) {
  const std::span<const std::byte> samples =
      data.sample_dtype == DType::u8    ? std::as_bytes(std::span(data.bytes))
      : data.sample_dtype == DType::i32 ? std::as_bytes(std::span(data.ids))
                                        : std::as_bytes(std::span(data.floats));
  const auto path = [&](char kind) { return folder / fmt::format("{}_{}.npy", kind, part); };
  write_npy(path('x'), data.sample_dtype, data.sample_shape.batched(data.size()), samples);
  if (data.values.empty()) {
    write_npy(path('y'), DType::i32, Shape{data.size()}, std::as_bytes(std::span(data.labels)));
  } else {
    write_npy(path('y'), DType::f32, data.value_shape.batched(data.size()),
              std::as_bytes(std::span(data.values)));
  }
}

}  // namespace

void save_idx(const DatasetPair& pair, const StagedFolder& folder, const SaveOptions& options) {
  const Dataset& train = pair.train;
  require(train.sample_dtype == DType::u8 && train.sample_shape.rank() == 3 &&
              train.sample_shape[2] == 1,
          "IDX holds grey pictures, u8 of (height, width, 1); the samples of '{}' are {} {}",
          train.name, to_string(train.sample_dtype), to_string(train.sample_shape));
  require(!train.labels.empty() && train.classes() <= 256,
          "IDX holds labels of at most 256 classes; '{}' has {}", train.name,
          train.labels.empty() ? std::string("values")
                               : fmt::format("{} classes", train.classes()));
  save_idx_part(train, train.sample_shape, "train", folder);
  report(options, train.size(), pair);
  save_idx_part(pair.test, train.sample_shape, "t10k", folder);  // also where it is empty
  save_class_names(train, folder);
  report(options, train.size() + pair.test.size(), pair);
}

void save_cifar(const DatasetPair& pair, const StagedFolder& folder, const SaveOptions& options) {
  const Dataset& train = pair.train;
  require(train.sample_dtype == DType::u8 && train.sample_shape == Shape({32, 32, 3}),
          "CIFAR's files hold u8 pictures of (32, 32, 3); the samples of '{}' are {} {}",
          train.name, to_string(train.sample_dtype), to_string(train.sample_shape));
  const bool ten = train.classes() == 10;
  require(!train.labels.empty() && (ten || train.classes() == 100),
          "CIFAR's files hold labels of 10 or of 100 classes; '{}' has {} {}", train.name,
          train.classes(), train.labels.empty() ? "values" : "classes");
  require(pair.test.size() > 0, "CIFAR's files hold a test part too; '{}' has none", train.name);
  const std::int64_t count = train.size();
  const std::int64_t files = ten && count >= kCifarFiles ? kCifarFiles : 1;
  for (std::int64_t f = 0; f < files; ++f) {
    const std::int64_t end = count * (f + 1) / files;
    folder.write(ten ? fmt::format("data_batch_{}.bin", f + 1) : "train.bin",
                 cifar_records(train, count * f / files, end));
    report(options, end, pair);
  }
  folder.write(ten ? "test_batch.bin" : "test.bin", cifar_records(pair.test, 0, pair.test.size()));
  save_class_names(train, folder);
  const char* names = ten ? "batches.meta.txt" : "fine_label_names.txt";
  std::error_code error;
  std::filesystem::rename(folder.path() / "classes.txt", folder.path() / names, error);
  require(!error, "cannot write '{}': {}", names, error.message());
  report(options, count + pair.test.size(), pair);
}

void save_npy(const DatasetPair& pair, const StagedFolder& folder, const SaveOptions& options) {
  save_npy_part(pair.train, "train", folder.path());
  report(options, pair.train.size(), pair);
  if (pair.test.size() > 0) save_npy_part(pair.test, "test", folder.path());
  save_class_names(pair.train, folder);
  report(options, pair.train.size() + pair.test.size(), pair);
}

}  // namespace linnet
