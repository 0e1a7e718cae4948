// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>
#include <linnet/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backend/cuda/handle.h"
#include "backend/cuda/matmul.h"

namespace linnet {
class TuningCache;
}

namespace linnet::cuda {

/// cuBLASLt on the device that is current when it is made. Move-only; one is enough for a backend,
/// and it must outlive what was prepared with it.
class CublasLt {
 public:
  /// `deterministic`: see CudaOptions. Throws Error where the library refuses.
  explicit CublasLt(bool deterministic = true);
  /// Returns one for a device that is only described: it takes every product, by no algorithm in
  /// particular, and what it prepares can be listed but not run.
  static CublasLt assumed() { return CublasLt(Assumed{}); }
  bool is_assumed() const { return !handle_; }
  bool is_deterministic() const { return deterministic_; }

  cublasLtHandle_t handle() const { return handle_.get(); }
  /// Device, version and which algorithms may be chosen: "NVIDIA H200, cuBLASLt 130100"; measured
  /// choices hold for it.
  const std::string& description() const { return description_; }
  /// Returns what `attempt` answered the first time that somebody asked about `what`.
  bool once(const std::string& what, const std::function<bool()>& attempt) const {
    const auto known = answers_.find(what);
    return known != answers_.end() ? known->second
                                   : answers_.emplace(what, attempt()).first->second;
  }

 private:
  struct Assumed {};
  explicit CublasLt(Assumed) : description_("assumed") {}

  UniqueHandle<cublasLtHandle_t, cublasLtDestroy> handle_;
  bool deterministic_ = true;
  std::string description_;
  mutable std::map<std::string, bool> answers_;
};

/// A problem for cuBLASLt: a product, the types of its operands, and its epilogue. Sums are f32.
struct LtProduct {
  MatrixProduct product;
  DType type = DType::f32;    ///< of A and B: f32, bf16 or f16
  DType c_type = DType::f32;  ///< of C: f32, or without a bias that of A and B
  bool tf32 = false;          ///< whether f32 operands may be rounded to TF32
  bool bias = false;          ///< n values are added to every row of C
  bool relu = false;          ///< last; whether a NaN survives is the library's choice
};

/// Device pointers of one call; A and B of the type that was prepared. workspace:
/// LtMatmul::workspace_bytes.
struct LtOperands {
  const void* a = nullptr;
  const void* b = nullptr;
  const float* bias = nullptr;
  void* c = nullptr;
  std::byte* workspace = nullptr;
  Queue stream = {};
};

/// A product with the algorithm that was chosen for it: a value, const while running.
class LtMatmul {
 public:
  static constexpr std::size_t kMostWorkspace = std::size_t{32} << 20;

  /// Returns null where cuBLASLt has no algorithm for it that runs, or where m, n or k is 0.
  /// Algorithms that add with atomics in no fixed order are left out where the library has to be
  /// deterministic. With a cache the library's first proposals are measured on the current device
  /// (a fraction of a second; memory for the operands), unless the cache knows the choice; without
  /// one, or where that memory is missing, the first is taken. What is chosen runs once, so that
  /// the library has loaded its kernels before anybody captures it.
  static std::optional<LtMatmul> prepare(const CublasLt& library, const LtProduct& product,
                                         TuningCache* cache);

  /// Returns bytes enough for a start at any address: enqueue() aligns it by itself.
  std::size_t workspace_bytes() const;
  /// Returns text for dumps: "cublaslt algorithm 21, bias+relu, 4 MiB".
  const std::string& engine() const { return engine_; }
  /// Throws Error where the library refuses.
  void enqueue(const LtOperands& operands) const;

 private:
  struct Algorithm {
    cublasLtMatmulAlgo_t id{};
    std::size_t workspace_bytes = 0;
  };

  explicit LtMatmul(const LtProduct& product) : product_(product) {}
  LtMatmul(const CublasLt& library, const LtProduct& product);
  std::vector<Algorithm> proposals(std::uint32_t alignment, int most,
                                   std::size_t most_workspace = kMostWorkspace);
  std::vector<Algorithm> candidates();
  static std::string to_text(const Algorithm& algorithm);
  std::optional<Algorithm> parse(const std::string& text) const;
  class Trial;
  std::optional<Algorithm> fastest(const std::vector<Algorithm>& proposals) const;
  bool runs() const;
  cublasStatus_t run(const LtOperands& operands, const Algorithm& algorithm) const;
  std::string key(const CublasLt& library) const;

  cublasLtHandle_t handle_ = nullptr;  ///< null: assumed
  LtProduct product_;
  bool deterministic_ = true;
  cublasLtMatmulDescOpaque_t descriptor_{};
  cublasLtMatrixLayoutOpaque_t a_{};
  cublasLtMatrixLayoutOpaque_t b_{};
  cublasLtMatrixLayoutOpaque_t c_{};
  Algorithm aligned_;                   ///< for operands at multiples of 16 bytes
  std::optional<Algorithm> unaligned_;  ///< for views that are not
  std::string engine_;
};

}  // namespace linnet::cuda
