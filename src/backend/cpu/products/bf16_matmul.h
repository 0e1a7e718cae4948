// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace linnet::cpu {

/// A matrix of bfloat16s in row-major order; `transposed` says that its transpose is meant.
struct Bf16Layout {
  std::int64_t stride = 0;  ///< elements from one stored row to the next
  bool transposed = false;
};

/// c = a b with f32 sums by oneDNN's bfloat16 kernels on the calling thread alone: a is (m, k),
/// b (k, n), c (m, n) in f32. Prepared once; threads may call it at the same time.
class Bf16Matmul {
 public:
  /// Returns nothing if the processor or oneDNN has no such arithmetic for these dims.
  static std::optional<Bf16Matmul> prepare(std::int64_t m, std::int64_t n, std::int64_t k,
                                           Bf16Layout a, Bf16Layout b, std::int64_t c_stride);
  Bf16Matmul(Bf16Matmul&&) noexcept;
  Bf16Matmul& operator=(Bf16Matmul&&) noexcept;
  ~Bf16Matmul();

  std::size_t scratch_bytes() const;
  /// scratch: 64-byte aligned.
  void run(const std::uint16_t* a, const std::uint16_t* b, float* c, std::byte* scratch) const;

 private:
  struct State;
  explicit Bf16Matmul(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace linnet::cpu
