// SPDX-License-Identifier: Apache-2.0
// The cuBLASLt engine on the simulated library of backend/cuda/sim.
#include "backend/cuda/cublaslt.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include <linnet/error.h>
#include "backend/cuda/captured_graph.h"
#include "backend/cuda/device.h"
#include "backend/cuda/matmul_testing.h"
#include "base/files.h"
#include "runtime/tuning_cache.h"

namespace linnet::cuda::testing {
namespace {

constexpr float kGap = -77;

std::vector<float> compute(const ProductCase& product, const LtMatmul& matmul,
                           std::int64_t offset = 0) {
  const auto shifted = [&](std::vector<float> values) {
    values.insert(values.begin(), static_cast<std::size_t>(offset), 0.0F);
    return values;
  };
  const DeviceArray a(shifted(product.a));
  const DeviceArray b(shifted(product.b));
  const DeviceArray bias(shifted(product.bias));
  const auto count = static_cast<std::size_t>(product.p.m * product.p.stride_c());
  const DeviceArray c(shifted(std::vector<float>(count, kGap)));
  constexpr std::size_t kStart = 64;  // as arenas may have it
  const DeviceArray workspace(kStart + matmul.workspace_bytes());
  matmul.enqueue({.a = a.floats() + offset,
                  .b = b.floats() + offset,
                  .bias = bias.floats() + offset,
                  .c = c.floats() + offset,
                  .workspace = workspace.bytes() + kStart,
                  .stream = nullptr});
  std::vector<float> values = c.download();
  values.erase(values.begin(), values.begin() + offset);
  return values;
}

TEST(CublasLt, AllTranspositionsStridesAndAddresses) {
  const CublasLt library;
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      for (const std::int64_t m : {1, 5, 16}) {
        for (const std::int64_t n : {1, 7, 12}) {
          for (const std::int64_t k : {1, 9, 24}) {
            for (const std::int64_t gap : {0, 3}) {
              MatrixProduct p{
                  .m = m, .n = n, .k = k, .transpose_a = transpose_a, .transpose_b = transpose_b};
              p.lda = p.stride_a() + gap;
              p.ldb = p.stride_b() + gap;
              p.ldc = p.stride_c() + gap;
              for (const bool bias : {false, true}) {
                const ProductCase product(p, bias);
                const auto matmul =
                    LtMatmul::prepare(library, {.product = p, .bias = bias}, nullptr);
                ASSERT_TRUE(matmul.has_value());
                EXPECT_LE(product.error(compute(product, *matmul), kGap), 1e-5);
                EXPECT_LE(product.error(compute(product, *matmul, 1), kGap), 1e-5);
              }
            }
          }
        }
      }
    }
  }
}

TEST(CublasLt, ReluComesAfterTheBias) {
  const CublasLt library;
  const MatrixProduct p{.m = 9, .n = 12, .k = 5, .transpose_b = true};
  for (const bool bias : {false, true}) {
    ProductCase product(p, bias);
    for (double& value : product.expected) value = std::max(value, 0.0);
    const auto matmul =
        LtMatmul::prepare(library, {.product = p, .bias = bias, .relu = true}, nullptr);
    EXPECT_LE(product.error(compute(product, *matmul), kGap), 1e-5);
    EXPECT_EQ(matmul->engine().find(bias ? "bias+relu" : "bias"),
              bias ? matmul->engine().find("bias") : std::string::npos);
  }
}

TEST(CublasLt, TakesThePrecisionAskedFor) {
  const CublasLt library;
  const MatrixProduct p{.m = 8, .n = 8, .k = 64};
  const ProductCase product(p);
  const auto error = [&](bool tf32) {
    const auto matmul = LtMatmul::prepare(library, {.product = p, .tf32 = tf32}, nullptr);
    return product.error(compute(product, *matmul), kGap);
  };
  EXPECT_LE(error(false), 1e-5);
  EXPECT_GE(error(true), 1e-5);
  EXPECT_LE(error(true), 1e-2);
}

/// Algorithm 32 adds with atomics; 31 needs rows of whole vectors.
TEST(CublasLt, AddsInAnyOrderOnlyWhereItMay) {
  const LtProduct wanted{.product = {.m = 8, .n = 9, .k = 9}};
  const auto engine = [&](bool deterministic) {
    return LtMatmul::prepare(CublasLt(deterministic), wanted, nullptr)->engine();
  };
  EXPECT_TRUE(engine(true).starts_with("cublaslt algorithm 20,")) << engine(true);
  EXPECT_TRUE(engine(false).starts_with("cublaslt algorithm 32,")) << engine(false);
  EXPECT_NE(CublasLt(true).description(), CublasLt(false).description())
      << "choices are kept apart";
}

TEST(CublasLt, LeavesEmptyProductsToOthers) {
  const CublasLt library;
  EXPECT_FALSE(LtMatmul::prepare(library, {.product = {.m = 0, .n = 4, .k = 4}}, nullptr));
  EXPECT_FALSE(LtMatmul::prepare(library, {.product = {.m = 4, .n = 4, .k = 0}}, nullptr));
}

TEST(CublasLt, MeasuresOnceAndKeepsTheChoice) {
  const CublasLt library;
  const LtProduct wanted{.product = {.m = 8, .n = 8, .k = 8}, .bias = true};
  TuningCache cache;
  sim::clear();
  const auto first = LtMatmul::prepare(library, wanted, &cache);
  EXPECT_GT(sim::counters().launches, 0U);
  sim::clear();
  const auto second = LtMatmul::prepare(library, wanted, &cache);
  EXPECT_EQ(sim::counters().launches, 0U);
  EXPECT_EQ(first->engine(), second->engine());
  // Another epilogue is another choice.
  static_cast<void>(LtMatmul::prepare(library, {.product = wanted.product}, &cache));
  EXPECT_GT(sim::counters().launches, 0U);
  const ProductCase product(wanted.product, true);
  EXPECT_LE(product.error(compute(product, *second), kGap), 1e-5);
  EXPECT_EQ(sim::allocated_bytes(), 0U);
}

/// Algorithm 21 of the simulated ones is slow, and 40 refuses to run.
TEST(CublasLt, ATrialDecidesAndTheCacheKeepsIt) {
  const CublasLt library;
  const LtProduct wanted{.product = {.m = 8, .n = 8, .k = 8}};
  const std::string key = library.description() + ": (8, 8, 8), strides 8 8 8, fp32, no epilogue";
  TuningCache cache;
  const auto engine = [&] { return LtMatmul::prepare(library, wanted, &cache)->engine(); };
  const std::string chosen = engine();
  EXPECT_FALSE(chosen.starts_with("cublaslt algorithm 21,")) << chosen;
  EXPECT_FALSE(chosen.starts_with("cublaslt algorithm 40,")) << chosen;
  EXPECT_EQ(engine(), chosen);
  // What another process may have kept: "<workspace> <the algorithm's words>".
  cache.put(key, "0 4c696e6e65744c74 1000000015 0 0 0 0 0 0");
  EXPECT_TRUE(engine().starts_with("cublaslt algorithm 21,")) << engine();
}

TEST(CublasLt, MayBeCapturedFromItsFirstCallOn) {
  const LtProduct wanted{.product = {.m = 8, .n = 8, .k = 8}};
  TuningCache cache;
  static_cast<void>(LtMatmul::prepare(CublasLt(), wanted, &cache));
  const DeviceArray memory(std::size_t{1} << 20);
  float* const floats = memory.floats();
  const Stream stream = make_stream();
  for (TuningCache* choices : {&cache, static_cast<TuningCache*>(nullptr)}) {
    const CublasLt library;  // another process: it has loaded nothing, and a choice is known or not
    const auto matmul = LtMatmul::prepare(library, wanted, choices);
    for (const std::ptrdiff_t skip : {0, 1}) {
      EXPECT_NO_THROW(static_cast<void>(CapturedGraph::capture(stream.get(), [&] {
        matmul->enqueue({.a = floats + skip,
                         .b = floats + 256,
                         .c = floats + 512,
                         .workspace = memory.bytes() + 4096,
                         .stream = stream.get()});
      }))) << skip;
    }
  }
}

TEST(CublasLt, KeepsEveryChoiceAsSoonAsItIsMade) {
  std::error_code none;
  const std::filesystem::path file = std::filesystem::temp_directory_path(none) /
                                     fmt::format("linnet_choices_{}.json", ::getpid());
  const CublasLt library;
  TuningCache cache(file);
  static_cast<void>(LtMatmul::prepare(library, {.product = {.m = 8, .n = 8, .k = 8}}, &cache));
  EXPECT_EQ(nlohmann::json::parse(read_file(file)).size(), 1U);
  static_cast<void>(LtMatmul::prepare(library, {.product = {.m = 8, .n = 8, .k = 9}}, &cache));
  EXPECT_EQ(nlohmann::json::parse(read_file(file)).size(), 2U);
  std::filesystem::remove(file, none);
}

TEST(CublasLt, IgnoresAChoiceThatDoesNotFit) {
  const CublasLt library;
  const LtProduct wanted{.product = {.m = 8, .n = 8, .k = 8}};
  const std::string key = library.description() + ": (8, 8, 8), strides 8 8 8, fp32, no epilogue";
  TuningCache cache;
  static_cast<void>(LtMatmul::prepare(library, wanted, &cache));
  ASSERT_TRUE(cache.get(key).has_value()) << "the key has changed";
  for (const char* nonsense : {"", "x", "64 1 2", "64 1 2 3 4 5 6 7 8", "99999999999999999999 1"}) {
    cache.put(key, nonsense);
    const auto matmul = LtMatmul::prepare(library, wanted, &cache);
    const ProductCase product(wanted.product);
    EXPECT_LE(product.error(compute(product, *matmul), kGap), 1e-5) << nonsense;
    EXPECT_NE(cache.get(key), nonsense);
  }
}

TEST(CublasLt, TakesTheFirstProposalWhereMemoryForMeasuringIsMissing) {
  const CublasLt library;
  TuningCache cache;
  sim::device().memory = 1000;
  const auto matmul = LtMatmul::prepare(library, {.product = {.m = 64, .n = 64, .k = 64}}, &cache);
  sim::reset_device();
  ASSERT_TRUE(matmul.has_value());
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  const ProductCase product({.m = 64, .n = 64, .k = 64});
  EXPECT_LE(product.error(compute(product, *matmul), kGap), 1e-4);
}

TEST(CublasLt, NamesTheProductThatTheLibraryRefuses) {
  const CublasLt library;
  const auto matmul = LtMatmul::prepare(library, {.product = {.m = 3, .n = 4, .k = 5}}, nullptr);
  try {
    matmul->enqueue({});
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "[cuBLASLt] product of m=3, n=4, k=5: an unsupported value or parameter was passed");
  }
}

}  // namespace
}  // namespace linnet::cuda::testing
