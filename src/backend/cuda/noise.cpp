// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/noise.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "core/half.h"

namespace linnet::cuda {
namespace {

constexpr std::size_t kPattern = 65537;  ///< numbers, then again: no multiple of channels
constexpr std::size_t kShift = 101;      ///< between the beginnings of two seeds
constexpr const char* kWhat = "filling memory for a trial";

/// From 0 to 1, drawn once: a start fills hundreds of operands.
const std::vector<float>& random_numbers() {
  static const std::vector<float> numbers = [] {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> uniform;
    std::vector<float> drawn(kPattern);
    std::ranges::generate(drawn, [&] { return uniform(random); });
    return drawn;
  }();
  return numbers;
}

std::vector<std::byte> pattern_of(const Noise& noise) {
  const std::vector<float>& numbers = random_numbers();
  const std::size_t size = size_of(noise.type);
  std::vector<std::byte> bytes(kPattern * size);
  for (std::size_t i = 0; i < kPattern; ++i) {
    const float number = noise.least + numbers[i] * (noise.most - noise.least);
    const std::uint16_t half = noise.type == DType::f16 ? f16_of(number) : bf16_of(number);
    const void* from = noise.type == DType::f32 ? static_cast<const void*>(&number) : &half;
    const std::size_t place = (i + kPattern - noise.seed * kShift % kPattern) % kPattern;
    std::memcpy(bytes.data() + place * size, from, size);
  }
  return bytes;
}

}  // namespace

void fill(void* memory, std::size_t bytes, const Noise& noise, cudaStream_t stream) {
  const std::vector<std::byte> pattern = pattern_of(noise);
  auto* to = static_cast<std::byte*>(memory);
  std::size_t filled = std::min(bytes, pattern.size());
  check(cudaMemcpyAsync(to, pattern.data(), filled, cudaMemcpyHostToDevice, stream), kWhat);
  while (filled < bytes) {  // twice as much each time
    const std::size_t more = std::min(filled, bytes - filled);
    check(cudaMemcpyAsync(to + filled, to, more, cudaMemcpyDeviceToDevice, stream), kWhat);
    filled += more;
  }
  check(cudaStreamSynchronize(stream), kWhat);
}

}  // namespace linnet::cuda
