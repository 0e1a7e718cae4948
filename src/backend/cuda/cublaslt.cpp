// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cublaslt.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "backend/cuda/device.h"
#include "backend/cuda/noise.h"
#include "backend/cuda/race.h"
#include "backend/cuda/workspace.h"
#include "base/check.h"
#include "runtime/tuning_cache.h"

namespace linnet::cuda {
namespace {

// Judged for a start of at most 0.1 s a product; other values were not measured.

/// Proposals of the library that are timed: its own order comes from a model, and neighbours in it
/// are mostly one kernel with other settings.
constexpr int kProposals = 16;
constexpr int kWithoutWorkspace = 8;    ///< and of those that need no workspace
constexpr std::uint32_t kAligned = 16;  ///< bytes, of operands: what 128-bit loads need

void check_lt(cublasStatus_t status, std::string_view what) {
  require<DeviceError>(status == CUBLAS_STATUS_SUCCESS, "[cuBLASLt] {}: {}", what,
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

std::string_view type_name(const LtProduct& p) {
  const bool to_half = p.c_type != DType::f32;
  if (p.type == DType::f16) return to_half ? "fp16 to fp16" : "fp16";
  if (p.type == DType::bf16) return to_half ? "bf16 to bf16" : "bf16";
  return p.tf32 ? "tf32" : "fp32";
}

cudaDataType_t library_type(DType type) {
  if (type == DType::f16) return CUDA_R_16F;
  return type == DType::bf16 ? CUDA_R_16BF : CUDA_R_32F;
}

/// The address is never read, but its value tells how the bias will be aligned.
void tell_alignment_of_bias(cublasLtMatmulDescOpaque_t& descriptor, std::uintptr_t alignment) {
  set(descriptor, CUBLASLT_MATMUL_DESC_BIAS_POINTER, alignment);
}

bool at_multiples_of_16(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % kAligned == 0;
}

}  // namespace

CublasLt::CublasLt(bool deterministic) : deterministic_(deterministic) {
  cublasLtHandle_t handle = nullptr;
  check_lt(cublasLtCreate(&handle), "starting the library");
  handle_ = UniqueHandle<cublasLtHandle_t, cublasLtDestroy>(handle);
  int device = 0;
  cudaDeviceProp properties{};
  check(cudaGetDevice(&device), "reading the device's properties");
  check(cudaGetDeviceProperties(&properties, device), "reading the device's properties");
  description_ = fmt::format("{}, cuBLASLt {}{}", properties.name, cublasLtGetVersion(),
                             deterministic ? "" : ", sums in any order");
}

// Row-major C = op(A) op(B) is column-major Cᵀ = op(B)ᵀ op(A)ᵀ: the library's first operand is B,
// its m is n, and its bias, one value a row, is one a column here.
LtMatmul::LtMatmul(const CublasLt& library, const LtProduct& product) : LtMatmul(product) {
  handle_ = library.handle();
  deterministic_ = library.is_deterministic();
  const MatrixProduct& p = product.product;
  const cublasComputeType_t compute = product.tf32 && product.type == DType::f32
                                          ? CUBLAS_COMPUTE_32F_FAST_TF32
                                          : CUBLAS_COMPUTE_32F;
  check_lt(cublasLtMatmulDescInit(&descriptor_, compute, CUDA_R_32F), "setting up a product");
  set(descriptor_, CUBLASLT_MATMUL_DESC_TRANSA, p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(descriptor_, CUBLASLT_MATMUL_DESC_TRANSB, p.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N);
  const cublasLtEpilogue_t epilogue =
      product.bias ? (product.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS)
                   : (product.relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT);
  set(descriptor_, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
  const cudaDataType_t type = library_type(product.type);
  set_layout(a_, type, p.transpose_a ? p.k : p.m, p.transpose_a ? p.m : p.k, p.stride_a());
  set_layout(b_, type, p.transpose_b ? p.n : p.k, p.transpose_b ? p.k : p.n, p.stride_b());
  set_layout(c_, library_type(product.c_type), p.m, p.n, p.stride_c());
}

std::optional<LtMatmul> LtMatmul::prepare(const CublasLt& library, const LtProduct& product,
                                          TuningCache* cache) {
  if (std::min({product.product.m, product.product.n, product.product.k}) == 0) return {};
  if (library.is_assumed()) {
    LtMatmul assumed(product);
    assumed.engine_ = fmt::format("cublaslt, {}, {}", type_name(product), epilogue_name(product));
    return assumed;
  }
  LtMatmul matmul(library, product);
  const std::string key = matmul.key(library);
  std::optional<Algorithm> chosen;
  if (cache != nullptr) chosen = matmul.parse(cache->get(key).value_or(""));
  if (!chosen) {
    const std::vector<Algorithm> found =
        cache != nullptr ? matmul.candidates() : matmul.proposals(kAligned, 1);
    if (found.empty()) return std::nullopt;
    if (cache != nullptr) chosen = matmul.fastest(found);
    if (chosen) cache->put(key, to_text(*chosen));
    if (!chosen) chosen = found.front();
  }
  matmul.aligned_ = *chosen;
  const std::vector<Algorithm> careful = matmul.proposals(alignof(float), 1);
  if (!careful.empty()) matmul.unaligned_ = careful.front();
  const std::string attempt = key + ", " + to_text(matmul.aligned_);
  if (!library.once(attempt, [&] { return matmul.runs(); })) return std::nullopt;

  int number = 0;
  check_lt(cublasLtMatmulAlgoConfigGetAttribute(&matmul.aligned_.id, CUBLASLT_ALGO_CONFIG_ID,
                                                &number, sizeof number, nullptr),
           "reading an algorithm's number");
  matmul.engine_ = fmt::format("cublaslt algorithm {}, {}, {}, {} KiB", number, type_name(product),
                               epilogue_name(product), matmul.workspace_bytes() / 1024);
  return matmul;
}

std::size_t LtMatmul::workspace_bytes() const {
  return library_workspace(
      std::max(aligned_.workspace_bytes, unaligned_ ? unaligned_->workspace_bytes : 0));
}

std::vector<LtMatmul::Algorithm> LtMatmul::proposals(std::uint32_t alignment, int most,
                                                     std::size_t most_workspace) {
  cublasLtMatmulPreferenceOpaque_t preference{};
  check_lt(cublasLtMatmulPreferenceInit(&preference), "setting up a search for algorithms");
  set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, most_workspace);
  set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
      static_cast<std::uint32_t>(deterministic_ ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE
                                                : CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE |
                                                      CUBLASLT_REDUCTION_SCHEME_INPLACE));
  for (const auto attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    set(preference, attribute, alignment);
  }
  if (product_.bias) tell_alignment_of_bias(descriptor_, alignment);
  std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<std::size_t>(most));
  int count = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(handle_, &descriptor_, &b_, &a_, &c_, &c_, &preference, most,
                                     results.data(), &count);
  if (status != CUBLAS_STATUS_SUCCESS) return {};
  std::vector<Algorithm> found;
  for (int i = 0; i < count; ++i) {
    const cublasLtMatmulHeuristicResult_t& result = results[static_cast<std::size_t>(i)];
    if (result.state == CUBLAS_STATUS_SUCCESS && result.workspaceSize <= most_workspace) {
      found.push_back({result.algo, result.workspaceSize});
    }
  }
  return found;
}

/// Returns what is timed.
std::vector<LtMatmul::Algorithm> LtMatmul::candidates() {
  std::vector<Algorithm> all = proposals(kAligned, kProposals);
  for (const Algorithm& other : proposals(kAligned, kWithoutWorkspace, 0)) {
    const auto same = [&](const Algorithm& one) {
      return std::ranges::equal(one.id.data, other.id.data);
    };
    if (std::ranges::none_of(all, same)) all.push_back(other);
  }
  return all;
}

/// "<workspace> <8 words, hexadecimal>"
std::string LtMatmul::to_text(const Algorithm& algorithm) {
  std::string text = fmt::format("{}", algorithm.workspace_bytes);
  for (const std::uint64_t word : algorithm.id.data) text += fmt::format(" {:x}", word);
  return text;
}

/// Returns what to_text() gave, and fit for this product; null else.
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
  if (product_.bias) tell_alignment_of_bias(descriptor, kAligned);
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
                        operands.c, &c, operands.c, &c, &algorithm.id,
                        library_aligned(operands.workspace), algorithm.workspace_bytes,
                        operands.stream.stream());
}

void LtMatmul::enqueue(const LtOperands& operands) const {
  if (operands.stream.lists({engine_, "cublaslt"})) return;
  const bool aligned = at_multiples_of_16(operands.a) && at_multiples_of_16(operands.b) &&
                       at_multiples_of_16(operands.c) && at_multiples_of_16(operands.bias);
  const MatrixProduct& p = product_.product;
  require<DeviceError>(aligned || unaligned_,
                       "[cuBLASLt] no algorithm for m={}, n={}, k={} off 16 bytes", p.m, p.n, p.k);
  const cublasStatus_t status = run(operands, aligned ? aligned_ : *unaligned_);
  require<DeviceError>(status == CUBLAS_STATUS_SUCCESS,
                       "[cuBLASLt] product of m={}, n={}, k={}: {}", p.m, p.n, p.k,
                       cublasLtGetStatusString(status));
}

/// Operands full of noise on a stream of their own.
class LtMatmul::Trial {
 public:
  /// `skew`: bytes by which the operands miss multiples of 256.
  Trial(const LtProduct& product, std::size_t work_bytes, std::size_t skew = 0)
      : skew_(skew), stream_(make_stream()) {
    const MatrixProduct& p = product.product;
    const std::size_t size = size_of(product.type);
    const auto bytes = [](std::int64_t rows, std::int64_t stride, std::size_t element) {
      return static_cast<std::size_t>(rows * stride) * element;
    };
    a_ = noise(bytes(p.transpose_a ? p.k : p.m, p.stride_a(), size), product.type);
    b_ = noise(bytes(p.transpose_b ? p.n : p.k, p.stride_b(), size), product.type);
    bias_ = noise(bytes(1, p.n, sizeof(float)), DType::f32);
    c_ = try_allocate(bytes(p.m, p.stride_c(), sizeof(float)) + skew);
    work_ = try_allocate(work_bytes);
  }

  /// Returns whether there was memory for it.
  explicit operator bool() const { return a_ && b_ && c_ && bias_ && work_; }
  cudaStream_t stream() const { return stream_.get(); }
  LtOperands operands() const {
    return {.a = start(a_),
            .b = start(b_),
            .bias = reinterpret_cast<const float*>(start(bias_)),
            .c = start(c_),
            .workspace = static_cast<std::byte*>(work_.get()),
            .stream = stream()};
  }

 private:
  ScratchMemory noise(std::size_t bytes, DType type) const {
    ScratchMemory memory = try_allocate(bytes + skew_);
    if (memory) fill(memory.get(), bytes + skew_, {.type = type}, stream());
    return memory;
  }
  std::byte* start(const ScratchMemory& memory) const {
    return static_cast<std::byte*>(memory.get()) + skew_;
  }

  std::size_t skew_;
  Stream stream_;
  ScratchMemory a_, b_, bias_, c_, work_;
};

std::optional<LtMatmul::Algorithm> LtMatmul::fastest(
    const std::vector<Algorithm>& proposals) const {
  std::size_t work_bytes = 0;
  for (const Algorithm& algorithm : proposals) {
    work_bytes = std::max(work_bytes, algorithm.workspace_bytes);
  }
  const Trial trial(product_, work_bytes);
  if (!trial) return std::nullopt;
  const LtOperands operands = trial.operands();
  constexpr const char* kWhat = "measuring a product";
  const std::optional<std::size_t> best =
      fastest_of(trial.stream(), kWhat, proposals.size(),
                 [&](std::size_t i) { check_lt(run(operands, proposals[i]), kWhat); });
  return best ? std::optional(proposals[*best]) : std::nullopt;
}

/// Both algorithms once, as steps will call them but outside of a capture.
bool LtMatmul::runs() const {
  const auto runs_at = [&](const Algorithm& algorithm, std::size_t skew) {
    const Trial trial(product_, algorithm.workspace_bytes, skew);
    if (!trial) return true;  // nor will there be any for a program
    const bool good = run(trial.operands(), algorithm) == CUBLAS_STATUS_SUCCESS;
    check(cudaStreamSynchronize(trial.stream()), "trying a product");
    return good;
  };
  return runs_at(aligned_, 0) && (!unaligned_ || runs_at(*unaligned_, alignof(float)));
}

std::string LtMatmul::key(const CublasLt& library) const {
  const MatrixProduct& p = product_.product;
  return fmt::format("{}: ({}, {}, {}){}{}, strides {} {} {}, {}, {}", library.description(), p.m,
                     p.n, p.k, p.transpose_a ? " Aᵀ" : "", p.transpose_b ? " Bᵀ" : "", p.stride_a(),
                     p.stride_b(), p.stride_c(), type_name(product_), epilogue_name(product_));
}

}  // namespace linnet::cuda
