// SPDX-License-Identifier: Apache-2.0
#include <linnet/convert.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/files.h"
#include "base/json.h"
#include "base/memory.h"
#include "convert/other_formats.h"
#include "formats/npy.h"
#include "formats/safetensors.h"
#include "formats/zip.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNpy = ".npy";

constexpr std::string_view kIndex = ".safetensors.index.json";
constexpr std::size_t kMostIndexBytes = std::size_t{64} << 20;
constexpr std::size_t kIndexDepth = 3;

State read_npz(const fs::path& path) {
  const ZipFile archive(path);
  std::vector<State::Entry> weights;
  for (const ZipEntry& entry : archive.entries()) {
    try {
      const std::string& name = entry.name;
      require<DataError>(name.ends_with(kNpy) && name.size() > kNpy.size(),
                         "it is not an .npy file");
      Tensor values =
          in_memory("it", [&] { return read_npy_from(ZipFile::open(entry), entry.bytes); });
      weights.push_back({name.substr(0, name.size() - kNpy.size()), std::move(values)});
    } catch (const Error& error) {
      fail_again<DataError>(error, "cannot read '{}': '{}' in it: {}", path.string(), entry.name,
                            error.what());
    }
  }
  return State(std::move(weights));
}

void write_npz(const fs::path& path, const State& weights) {
  std::vector<std::string> headers;
  std::vector<Tensor> hosts;
  headers.reserve(weights.size());
  std::vector<ZipSource> files;
  for (const auto& [name, value] : weights) {
    const Tensor& host = hosts.emplace_back(value.to_host());
    const std::string& header = headers.emplace_back(npy_header(host, path.string()));
    const auto bytes = host.bytes();
    files.push_back(
        {name + std::string(kNpy),
         {header, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())}});
  }
  write_zip(path, files);
}

State read_tensors(const fs::path& path) {
  const SafetensorsFile file = read_safetensors(path);
  std::vector<State::Entry> weights;
  for (const TensorView& tensor : file.tensors()) {
    weights.push_back({tensor.name, to_tensor(tensor)});
  }
  return State(std::move(weights));
}

/// Reads the index of weights in several files: {"weight_map": {"a.weight": "x-1.safetensors"}}.
State read_shards(const fs::path& path) {
  const auto refuse = [&](std::string_view why) {
    fail<DataError>("cannot read '{}': {}", path.string(), why);
  };
  const auto index = [&] {
    try {
      return parse_json<nlohmann::json>(read_text(path, kMostIndexBytes), kIndexDepth, "the index");
    } catch (const DataError& error) {
      fail_again<DataError>(error, "cannot read '{}': {}", path.string(), error.what());
    }
  }();
  const auto map = index.is_object() ? index.find("weight_map") : index.end();
  if (map == index.end() || !map->is_object()) refuse("expected a weight_map of names and files");
  std::map<std::string, State> files;
  std::vector<State::Entry> weights;
  for (const auto& [name, file] : map->items()) {
    if (!file.is_string()) refuse("expected the name of a file for each weight");
    const std::string& shard = file.get_ref<const std::string&>();
    if (fs::path(shard).filename() != shard || !shard.ends_with(".safetensors")) {
      refuse("expected .safetensors files beside it");
    }
    auto found = files.find(shard);
    if (found == files.end()) {
      found = files.emplace(shard, read_tensors(path.parent_path() / shard)).first;
    }
    const Tensor* tensor = found->second.find(name);
    require<DataError>(tensor != nullptr, "cannot read '{}': '{}' holds no tensor '{}'",
                       path.string(), shard, name);
    weights.push_back({name, *tensor});
  }
  return State(std::move(weights));
}

}  // namespace

State read_weights(const fs::path& path) {
  const std::string_view way = way_from_other_format(path);
  require<DataError>(way.empty(), "cannot read '{}': expected .safetensors or .npz; {}",
                     path.string(), way);
  if (path.extension() == ".npz") return read_npz(path);
  return path.string().ends_with(kIndex) ? read_shards(path) : read_tensors(path);
}

void write_weights(const fs::path& path, const State& weights,
                   const std::map<std::string, std::string>& metadata) {
  const std::string extension = path.extension().string();
  if (extension == ".npz") return write_npz(path, weights);
  require(extension == ".safetensors", "cannot write '{}': expected .safetensors or .npz",
          path.string());
  std::vector<Tensor> hosts;
  std::vector<TensorView> tensors;
  for (const auto& [name, value] : weights) {
    const Tensor& host = hosts.emplace_back(value.to_host());
    tensors.push_back({name, host.dtype(), host.shape(), host.bytes()});
  }
  write_safetensors(path, tensors, metadata);
}

}  // namespace linnet
