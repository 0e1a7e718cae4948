// SPDX-License-Identifier: Apache-2.0
#include <linnet/state.h>

#include <utility>
#include <vector>

#include "formats/safetensors.h"

namespace linnet {

void write_state(const std::filesystem::path& path, const State& state) {
  std::vector<Tensor> values;
  std::vector<TensorView> tensors;
  for (const auto& [name, value] : state) {
    const Tensor& here = values.emplace_back(value.to_host());
    tensors.push_back({name, here.dtype(), here.shape(), here.bytes()});
  }
  write_checked_safetensors(path, tensors);
}

State read_state(const std::filesystem::path& path) {
  const SafetensorsFile file = read_checked_safetensors(path);
  std::vector<State::Entry> entries;
  for (const TensorView& tensor : file.tensors()) {
    entries.push_back({tensor.name, to_tensor(tensor)});
  }
  return State(std::move(entries));
}

}  // namespace linnet
