// SPDX-License-Identifier: Apache-2.0
#include "formats/safetensors.h"

#include <algorithm>

#include "fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linnet;
  const auto path = fuzz::put("x.safetensors", std::span(data, size));
  fuzz::accepts([&] {
    const SafetensorsFile file = read_safetensors(path);
    for (const TensorView& tensor : file.tensors()) {
      fuzz::expect(&file.at(tensor.name) == &tensor, "a tensor is found by its name");
      fuzz::expect(to_tensor(tensor).to(DType::f32).elements() == tensor.shape.elements(),
                   "a tensor has as many elements as its shape says");
    }
    write_safetensors(path, file.tensors(), file.metadata());
    const SafetensorsFile again = read_safetensors(path);
    fuzz::expect(again.metadata() == file.metadata(), "metadata are read as they were written");
    for (const TensorView& tensor : file.tensors()) {
      const TensorView& copy = again.at(tensor.name);
      fuzz::expect(copy.dtype == tensor.dtype && copy.shape == tensor.shape &&
                       std::ranges::equal(copy.data, tensor.data),
                   "a tensor is read as it was written");
    }
  });
  return 0;
}
