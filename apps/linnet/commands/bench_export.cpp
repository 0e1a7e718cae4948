// SPDX-License-Identifier: Apache-2.0
#include "commands/bench_export.h"

#include <linnet/onnx.h>

#include <bit>
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/files.h"
#include "report/json.h"

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little,
              "--export writes little-endian files, which this machine cannot");

void write(const fs::path& file, const Tensor& tensor) {
  const std::span<const std::byte> bytes = tensor.bytes();
  write_file_atomically(file, std::string_view(reinterpret_cast<const char*>(bytes.data()),
                                               bytes.size()));
}

void export_split(const Dataset& data, const fs::path& folder, const std::string& split) {
  require(data.inputs().size() == 1 && data.targets().size() == 1 &&
              data.inputs()[0].source == nullptr && data.targets()[0].source == nullptr,
          "--export needs data in memory with one input and one target; '{}' has others",
          data.info().name);
  write(folder / (split + "samples.bin"), data.inputs()[0].data);
  write(folder / (split + "targets.bin"), data.targets()[0].data);
}

}  // namespace

void export_data(const Splits& splits, const fs::path& folder, const Model* model) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  require(!failure, "cannot make the folder '{}': {}", folder.string(), failure.message());
  const Dataset& train = splits.train;
  export_split(train, folder, "");
  if (splits.test.size() > 0) export_split(splits.test, folder, "test_");
  Json about{{"name", train.info().name},
             {"samples", train.size()},
             {"test_samples", splits.test.size()},
             {"sample_shape", to_json(train.inputs()[0].record())},
             {"sample_dtype", to_string(train.inputs()[0].dtype())},
             {"target_dtype", to_string(train.targets()[0].dtype())},
             {"classes", train.classes().size()}};
  try {
    if (model != nullptr) export_onnx(*model, folder / "model.onnx");
  } catch (const Error& error) {
    about["no_model"] = error.what();
  }
  write_file_atomically(folder / "data.json", about.dump(1) + "\n");
}

}  // namespace linnet::command
