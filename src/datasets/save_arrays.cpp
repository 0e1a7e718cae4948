// SPDX-License-Identifier: Apache-2.0
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"
#include "data/targets.h"
#include "datasets/save_dataset.h"

namespace linnet {
namespace {

std::string_view as_text(const Tensor& bytes) {
  return {reinterpret_cast<const char*>(bytes.bytes().data()), bytes.bytes().size()};
}

void report(const SaveOptions& options, std::int64_t done, const Splits& splits) {
  if (options.progress) options.progress(done, splits.train.size() + splits.test.size());
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
  if (data.size() > 0) images += as_text(data.inputs()[0].data);
  folder.write(part + "-images-idx3-ubyte", images);
  std::string labels = big_endian(0x801) + big_endian(data.size());
  for (const std::int32_t label : labels_of(data)) labels += static_cast<char>(label);
  folder.write(part + "-labels-idx1-ubyte", labels);
}

constexpr std::int64_t kCifarPlane = 32 * 32;
constexpr std::int64_t kCifarFiles = 5;

/// Returns the records [first, end): label bytes, then the planes of red, green and blue.
std::string cifar_records(const Dataset& data, std::int64_t first, std::int64_t end) {
  std::string out;
  out.reserve(static_cast<std::size_t>(end - first) * (3 * kCifarPlane + 2));
  const std::span<const std::int32_t> labels = labels_of(data);
  for (std::int64_t i = first; i < end; ++i) {
    if (data.classes().size() == 100) out += '\0';
    out += static_cast<char>(labels[static_cast<std::size_t>(i)]);
    const std::uint8_t* pixels =
        data.inputs()[0].data.as<std::uint8_t>().data() + i * 3 * kCifarPlane;
    for (std::int64_t c = 0; c < 3; ++c) {
      for (std::int64_t p = 0; p < kCifarPlane; ++p) out += static_cast<char>(pixels[p * 3 + c]);
    }
  }
  return out;
}

void save_npy_part(const Dataset& data, const std::string& part,
                   const std::filesystem::path& folder) {
  write_npy(folder / fmt::format("x_{}.npy", part), data.inputs()[0].data);
  write_npy(folder / fmt::format("y_{}.npy", part), data.targets()[0].data);
}

}  // namespace

void save_idx(const Splits& splits, const StagedFolder& folder, const SaveOptions& options) {
  const Dataset& train = splits.train;
  const std::string& name = train.info().name;
  const DType dtype = train.inputs()[0].dtype();
  const Shape sample = train.inputs()[0].record();
  require(dtype == DType::u8 && sample.rank() == 3 && sample[2] == 1,
          "IDX holds grey images, u8 of (height, width, 1); the samples of '{}' are {} {}", name,
          to_string(dtype), to_string(sample));
  const bool labels = !labels_of(train).empty();
  require(labels && train.classes().size() <= 256,
          "IDX holds labels of at most 256 classes; '{}' has {}", name,
          labels ? fmt::format("{} classes", train.classes().size()) : std::string("values"));
  save_idx_part(train, sample, "train", folder);
  report(options, train.size(), splits);
  save_idx_part(splits.test, sample, "t10k", folder);  // also where it is empty
  save_class_names(train, folder);
  report(options, train.size() + splits.test.size(), splits);
}

void save_cifar(const Splits& splits, const StagedFolder& folder, const SaveOptions& options) {
  const Dataset& train = splits.train;
  const std::string& name = train.info().name;
  const DType dtype = train.inputs()[0].dtype();
  const Shape sample = train.inputs()[0].record();
  require(dtype == DType::u8 && sample == Shape({32, 32, 3}),
          "CIFAR's files hold u8 images of (32, 32, 3); the samples of '{}' are {} {}", name,
          to_string(dtype), to_string(sample));
  const std::size_t classes = train.classes().size();
  const bool labels = !labels_of(train).empty();
  const bool ten = classes == 10;
  require(labels && (ten || classes == 100),
          "CIFAR's files hold labels of 10 or of 100 classes; '{}' has {} {}", name, classes,
          labels ? "classes" : "values");
  require(splits.test.size() > 0, "CIFAR's format needs a test set; '{}' has none", name);
  const std::int64_t count = train.size();
  const std::int64_t files = ten && count >= kCifarFiles ? kCifarFiles : 1;
  for (std::int64_t f = 0; f < files; ++f) {
    const std::int64_t end = count * (f + 1) / files;
    folder.write(ten ? fmt::format("data_batch_{}.bin", f + 1) : "train.bin",
                 cifar_records(train, count * f / files, end));
    report(options, end, splits);
  }
  folder.write(ten ? "test_batch.bin" : "test.bin",
               cifar_records(splits.test, 0, splits.test.size()));
  save_class_names(train, folder);
  const char* names = ten ? "batches.meta.txt" : "fine_label_names.txt";
  std::error_code error;
  std::filesystem::rename(folder.path() / "classes.txt", folder.path() / names, error);
  require(!error, "cannot write '{}': {}", names, error.message());
  report(options, count + splits.test.size(), splits);
}

void save_npy(const Splits& splits, const StagedFolder& folder, const SaveOptions& options) {
  save_npy_part(splits.train, "train", folder.path());
  report(options, splits.train.size(), splits);
  if (splits.test.size() > 0) save_npy_part(splits.test, "test", folder.path());
  save_class_names(splits.train, folder);
  report(options, splits.train.size() + splits.test.size(), splits);
}

}  // namespace linnet
