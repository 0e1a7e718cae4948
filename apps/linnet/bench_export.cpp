// SPDX-License-Identifier: Apache-2.0
#include "bench_export.h"

#include <bit>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/files.h"
#include "json.h"

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

template <class T>
void write(const fs::path& file, const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  write_file_atomically(file, std::string_view(reinterpret_cast<const char*>(bytes.data()),
                                               bytes.size()));
}

void export_part(const Dataset& data, const fs::path& folder, const std::string& part) {
  require(data.source == nullptr && data.more_inputs.empty() && data.more_targets.empty(),
          "--export takes one input and one target of data in memory; '{}' is not that", data.name);
  const fs::path samples = folder / (part + "samples.bin");
  switch (data.sample_dtype) {
    case DType::u8: write(samples, data.bytes); break;
    case DType::i32: write(samples, data.ids); break;
    default: write(samples, data.floats);
  }
  const fs::path targets = folder / (part + "targets.bin");
  data.labels.empty() ? write(targets, data.values) : write(targets, data.labels);
}

}  // namespace

void export_data(const DatasetPair& parts, const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  require(!failure, "cannot make the folder '{}': {}", folder.string(), failure.message());
  const Dataset& train = parts.train;
  export_part(train, folder, "");
  if (parts.test.size() > 0) export_part(parts.test, folder, "test_");
  const Json about{{"name", train.name},
                   {"samples", train.size()},
                   {"test_samples", parts.test.size()},
                   {"sample_shape", to_json(train.sample_shape)},
                   {"sample_dtype", to_string(train.sample_dtype)},
                   {"target_dtype", train.labels.empty() ? "f32" : "i32"},
                   {"classes", train.classes()}};
  write_file_atomically(folder / "data.json", about.dump(1) + "\n");
}

}  // namespace linnet::command
