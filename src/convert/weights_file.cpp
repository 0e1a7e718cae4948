// SPDX-License-Identifier: Apache-2.0
#include <linnet/convert.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/memory.h"
#include "io/npy.h"
#include "io/safetensors.h"
#include "io/zip.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNpy = ".npy";

/// Formats that only their own library can read, and how that library writes one that is read.
struct Foreign {
  std::string_view extension;
  std::string_view advice;
};
constexpr std::string_view kTorch =
    "a PyTorch pickle runs code when it is read; convert it in Python by "
    "safetensors.torch.save_file(torch.load(...), 'x.safetensors')";
constexpr std::string_view kKeras =
    "convert it in Python by numpy.savez('x.npz', **{v.path: v.numpy() for v in model.variables})";
constexpr std::array<Foreign, 6> kForeign{{{".pth", kTorch},
                                           {".pt", kTorch},
                                           {".bin", kTorch},
                                           {".ckpt", kTorch},
                                           {".h5", kKeras},
                                           {".keras", kKeras}}};

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

}  // namespace

State read_weights(const fs::path& path) {
  const std::string extension = path.extension().string();
  for (const Foreign& foreign : kForeign) {
    require<DataError>(extension != foreign.extension,
                       "cannot read '{}': expected .safetensors or .npz; {}", path.string(),
                       foreign.advice);
  }
  if (extension == ".npz") return read_npz(path);
  const SafetensorsFile file = read_safetensors(path);
  std::vector<State::Entry> weights;
  for (const TensorView& tensor : file.tensors()) {
    weights.push_back({tensor.name, to_tensor(tensor)});
  }
  return State(std::move(weights));
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
