// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cublaslt.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <vector>

#include "backend/cuda/device.h"
#include "runtime/tuning_cache.h"
#include "base/check.h"
#include "base/random.h"

namespace linnet::cuda {
namespace {

constexpr int kProposals = 8;
constexpr std::uint32_t kAligned = 16;

void check_lt(cublasStatus_t status, std::string_view what) {
  require(status == CUBLAS_STATUS_SUCCESS, "[cuBLASLt] {}: {}", what,
          cublasLtGetStatusString(status));
}

template <class T>
void set(cublasLtMatmulDescOpaque_t& descriptor, cublasLtMatmulDescAttributes_t attribute,
         const T& value) {
  check_lt(cublasLtMatmulDescSetAttribute(&descriptor, attribute, &value, sizeof value),
           "setting up a product");
}

template <class T>
void set(cublasLtMatmulPreferenceOpaque_t& preference,
         cublasLtMatmulPreferenceAttributes_t attribute, const T& value) {
  check_lt(cublasLtMatmulPreferenceSetAttribute(&preference, attribute, &value, sizeof value),
           "setting up a search for algorithms");
}

/// cuBLASLt's matrices are column-major: to it, a row-major (rows, columns) is (columns, rows).
void set_layout(cublasLtMatrixLayoutOpaque_t& layout, cudaDataType_t type, std::int64_t rows,
                std::int64_t columns, std::int64_t stride) {
  check_lt(cublasLtMatrixLayoutInit(&layout, type, static_cast<std::uint64_t>(columns),
                                    static_cast<std::uint64_t>(rows), stride),
           "describing a matrix");
}

std::string_view epilogue_name(const LtProduct& p) {
  if (p.bias) return p.relu ? "bias+relu" : "bias";
  return p.relu ? "relu" : "no epilogue";
}

bool at_multiples_of_16(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % kAligned == 0;
}

/// Uniform in [-1, 1): zeros would be multiplied with less power, and so faster.
void fill(void* memory, std::size_t bytes, bool bf16, cudaStream_t stream) {
  std::vector<std::uint16_t> pattern(std::size_t{1} << 18);
  for (std::size_t i = 0; i < pattern.size(); i += 2) {
    const float value = 2 * unit_float(static_cast<std::uint32_t>(mix_bits(i) >> 32)) - 1;
    const auto bits = std::bit_cast<std::uint32_t>(value);
    pattern[i + 1] = static_cast<std::uint16_t>(bits >> 16);
    pattern[i] = bf16 ? pattern[i + 1] : static_cast<std::uint16_t>(bits);
  }
  const std::size_t piece = pattern.size() * sizeof(std::uint16_t);
  for (std::size_t at = 0; at < bytes; at += piece) {
    check(cudaMemcpyAsync(static_cast<std::byte*>(memory) + at, pattern.data(),
                          std::min(piece, bytes - at), cudaMemcpyHostToDevice, stream),
          "filling matrices for a measurement");
  }
  check(cudaStreamSynchronize(stream), "filling matrices for a measurement");
}

}  // namespace

CublasLt::CublasLt() {
  cublasLtHandle_t handle = nullptr;
  check_lt(cublasLtCreate(&handle), "starting the library");
  handle_ = UniqueHandle<cublasLtHandle_t, cublasLtDestroy>(handle);
  int device = 0;
  cudaDeviceProp properties{};
  check(cudaGetDevice(&device), "reading the device's properties");
  check(cudaGetDeviceProperties(&properties, device), "reading the device's properties");
  description_ = fmt::format("{}, cuBLASLt {}", properties.name, cublasLtGetVersion());
}

// Row-major C = op(A) op(B) is column-major Cᵀ = op(B)ᵀ op(A)ᵀ: the library's first operand is B,
// its m is n, and its bias, one value a row, is one a column here.
LtMatmul::LtMatmul(const CublasLt& library, const LtProduct& product)
    : handle_(library.handle()), product_(product) {
  const MatrixProduct& p = product.product;
  const cublasComputeType_t compute =
      product.tf32 && !product.bf16 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  check_lt(cublasLtMatmulDescInit(&descriptor_, compute, CUDA_R_32F), "setting up a product");
  set(descriptor_, CUBLASLT_MATMUL_DESC_TRANSA, p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(descriptor_, CUBLASLT_MATMUL_DESC_TRANSB, p.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N);
  const cublasLtEpilogue_t epilogue =
      product.bias ? (product.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS)
                   : (product.relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT);
  set(descriptor_, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
  const cudaDataType_t type = product.bf16 ? CUDA_R_16BF : CUDA_R_32F;
  set_layout(a_, type, p.transpose_a ? p.k : p.m, p.transpose_a ? p.m : p.k, p.stride_a());
  set_layout(b_, type, p.transpose_b ? p.n : p.k, p.transpose_b ? p.k : p.n, p.stride_b());
  set_layout(c_, CUDA_R_32F, p.m, p.n, p.stride_c());
}

std::optional<LtMatmul> LtMatmul::prepare(const CublasLt& library, const LtProduct& product,
                                          TuningCache* cache) {
  if (std::min({product.product.m, product.product.n, product.product.k}) == 0) return {};
  LtMatmul matmul(library, product);
  const std::vector<Algorithm> found =
      matmul.proposals(kAligned, cache != nullptr ? kProposals : 1);
  if (found.empty()) return std::nullopt;
  matmul.aligned_ = found.front();
  if (cache != nullptr) {
    const std::string key = matmul.key(library);
    std::optional<Algorithm> known = matmul.parse(cache->get(key).value_or(""));
    if (!known && (known = matmul.fastest(found))) {
      std::string text = fmt::format("{}", known->workspace_bytes);
      for (const std::uint64_t word : known->id.data) text += fmt::format(" {:x}", word);
      cache->put(key, text);
    }
    matmul.aligned_ = known.value_or(found.front());
  }
  const std::vector<Algorithm> careful = matmul.proposals(alignof(float), 1);
  if (!careful.empty()) matmul.unaligned_ = careful.front();

  int number = 0;
  check_lt(cublasLtMatmulAlgoConfigGetAttribute(&matmul.aligned_.id, CUBLASLT_ALGO_CONFIG_ID,
                                                &number, sizeof number, nullptr),
           "reading an algorithm's number");
  matmul.engine_ = fmt::format("cublaslt algorithm {}, {}, {}, {} KiB", number,
                               product.bf16 ? "bf16" : (product.tf32 ? "tf32" : "fp32"),
                               epilogue_name(product), matmul.workspace_bytes() / 1024);
  return matmul;
}

std::size_t LtMatmul::workspace_bytes() const {
  return std::max(aligned_.workspace_bytes, unaligned_ ? unaligned_->workspace_bytes : 0);
}

std::vector<LtMatmul::Algorithm> LtMatmul::proposals(std::uint32_t alignment, int most) {
  cublasLtMatmulPreferenceOpaque_t preference{};
  check_lt(cublasLtMatmulPreferenceInit(&preference), "setting up a search for algorithms");
  set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kMostWorkspace);
  set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
      static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  for (const auto attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    set(preference, attribute, alignment);
  }
  // Never read here, but its value tells how the bias will be aligned.
  if (product_.bias) {
    const auto address = static_cast<std::uintptr_t>(alignment);
    set(descriptor_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, address);
  }
  std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<std::size_t>(most));
  int count = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(handle_, &descriptor_, &b_, &a_, &c_, &c_, &preference, most,
                                     results.data(), &count);
  if (status != CUBLAS_STATUS_SUCCESS) return {};
  std::vector<Algorithm> found;
  for (int i = 0; i < count; ++i) {
    const cublasLtMatmulHeuristicResult_t& result = results[static_cast<std::size_t>(i)];
    if (result.state == CUBLAS_STATUS_SUCCESS && result.workspaceSize <= kMostWorkspace) {
      found.push_back({result.algo, result.workspaceSize});
    }
  }
  return found;
}

/// "<workspace> <8 words, hexadecimal>", and fit for this product; null else.
std::optional<LtMatmul::Algorithm> LtMatmul::parse(const std::string& text) const {
  Algorithm algorithm;
  const char* at = text.data();
  const char* end = at + text.size();
  const auto number = [&](auto& value, int base) {
    while (at != end && *at == ' ') ++at;
    const auto [next, error] = std::from_chars(at, end, value, base);
    at = next;
    return error == std::errc();
  };
  if (!number(algorithm.workspace_bytes, 10)) return std::nullopt;
  for (auto& word : algorithm.id.data) {
    if (!number(word, 16)) return std::nullopt;
  }
  cublasLtMatmulDescOpaque_t descriptor = descriptor_;
  cublasLtMatrixLayoutOpaque_t a = a_;
  cublasLtMatrixLayoutOpaque_t b = b_;
  cublasLtMatrixLayoutOpaque_t c = c_;
  cublasLtMatmulHeuristicResult_t result{};
  const cublasStatus_t status =
      cublasLtMatmulAlgoCheck(handle_, &descriptor, &b, &a, &c, &c, &algorithm.id, &result);
  if (status != CUBLAS_STATUS_SUCCESS || result.workspaceSize > kMostWorkspace) return std::nullopt;
  algorithm.workspace_bytes = result.workspaceSize;
  return algorithm;
}

cublasStatus_t LtMatmul::run(const LtOperands& operands, const Algorithm& algorithm) const {
  // The library takes pointers to what it does not change; copies keep this const.
  cublasLtMatmulDescOpaque_t descriptor = descriptor_;
  cublasLtMatrixLayoutOpaque_t a = a_;
  cublasLtMatrixLayoutOpaque_t b = b_;
  cublasLtMatrixLayoutOpaque_t c = c_;
  if (product_.bias) set(descriptor, CUBLASLT_MATMUL_DESC_BIAS_POINTER, operands.bias);
  const float one = 1;
  const float zero = 0;
  return cublasLtMatmul(handle_, &descriptor, &one, operands.b, &b, operands.a, &a, &zero,
                        operands.c, &c, operands.c, &c, &algorithm.id, operands.workspace,
                        algorithm.workspace_bytes, operands.stream);
}

void LtMatmul::enqueue(const LtOperands& operands) const {
  const bool aligned = at_multiples_of_16(operands.a) && at_multiples_of_16(operands.b) &&
                       at_multiples_of_16(operands.c) && at_multiples_of_16(operands.bias);
  const MatrixProduct& p = product_.product;
  require(aligned || unaligned_, "[cuBLASLt] no algorithm for m={}, n={}, k={} off 16 bytes", p.m,
          p.n, p.k);
  const cublasStatus_t status = run(operands, aligned ? aligned_ : *unaligned_);
  require(status == CUBLAS_STATUS_SUCCESS, "[cuBLASLt] product of m={}, n={}, k={}: {}", p.m, p.n,
          p.k, cublasLtGetStatusString(status));
}

std::optional<LtMatmul::Algorithm> LtMatmul::fastest(
    const std::vector<Algorithm>& proposals) const {
  const MatrixProduct& p = product_.product;
  const auto bytes = [](std::int64_t rows, std::int64_t stride, std::size_t size) {
    return static_cast<std::size_t>(rows * stride) * size;
  };
  const std::size_t size = product_.bf16 ? 2 : 4;
  const std::size_t a_bytes = bytes(p.transpose_a ? p.k : p.m, p.stride_a(), size);
  const std::size_t b_bytes = bytes(p.transpose_b ? p.n : p.k, p.stride_b(), size);
  const std::size_t bias_bytes = static_cast<std::size_t>(p.n) * sizeof(float);
  std::size_t work_bytes = 0;
  for (const Algorithm& algorithm : proposals) {
    work_bytes = std::max(work_bytes, algorithm.workspace_bytes);
  }
  const ScratchMemory a = try_allocate(a_bytes);
  const ScratchMemory b = try_allocate(b_bytes);
  const ScratchMemory c = try_allocate(bytes(p.m, p.stride_c(), sizeof(float)));
  const ScratchMemory bias = try_allocate(bias_bytes);
  const ScratchMemory work = try_allocate(work_bytes);
  if (!a || !b || !c || !bias || !work) return std::nullopt;

  const Stream stream = make_stream();
  const Stopwatch watch(stream.get());
  fill(a.get(), a_bytes, product_.bf16, stream.get());
  fill(b.get(), b_bytes, product_.bf16, stream.get());
  fill(bias.get(), bias_bytes, false, stream.get());
  const LtOperands operands{.a = a.get(),
                            .b = b.get(),
                            .bias = static_cast<const float*>(bias.get()),
                            .c = static_cast<float*>(c.get()),
                            .workspace = static_cast<std::byte*>(work.get()),
                            .stream = stream.get()};
  std::optional<Algorithm> best;
  float best_time = std::numeric_limits<float>::infinity();
  for (const Algorithm& algorithm : proposals) {
    if (run(operands, algorithm) != CUBLAS_STATUS_SUCCESS) continue;  // and this was the warm-up
    for (int round = 0; round < 3; ++round) {
      const float time = watch.milliseconds("measuring a product", [&] {
        for (int repeat = 0; repeat < 5; ++repeat) {
          check_lt(run(operands, algorithm), "measuring a product");
        }
      });
      if (time < best_time) {
        best_time = time;
        best = algorithm;
      }
    }
  }
  return best;
}

std::string LtMatmul::key(const CublasLt& library) const {
  const MatrixProduct& p = product_.product;
  return fmt::format("{}: ({}, {}, {}){}{}, strides {} {} {}, {}, {}", library.description(), p.m,
                     p.n, p.k, p.transpose_a ? " Aᵀ" : "", p.transpose_b ? " Bᵀ" : "", p.stride_a(),
                     p.stride_b(), p.stride_c(),
                     product_.bf16 ? "bf16" : (product_.tf32 ? "tf32" : "fp32"),
                     epilogue_name(product_));
}

}  // namespace linnet::cuda
