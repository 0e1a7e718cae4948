// SPDX-License-Identifier: Apache-2.0
// Dense layers by cuBLASLt, on the simulated library; what it leaves goes to Linnet's own kernels.
#include <gtest/gtest.h>

#include "backend/cuda/cublaslt.h"
#include "backend/cuda/kernel.h"
#include "backend/cuda/matmul_testing.h"
#include "backend/cuda/vectors.cuh"
#include "ops/dense/dense.h"
#include "runtime/tuning_cache.h"

namespace linnet::cuda {

void register_dense(Registry& registry);
void register_dense_cublaslt(Registry& registry);

namespace testing {
namespace {

class DenseCublasLt : public ::testing::Test {
 protected:
  DenseCublasLt() {
    register_dense(registry_);
    register_dense_cublaslt(registry_);
    context_.cublaslt = &library_;
    context_.precision = Precision::fp32;
  }

  Kernel prepare(const Op& op, const std::vector<ValueType>& inputs) {
    std::vector<ValueType> outputs = op.infer(inputs);
    std::vector<ValueType> operands = inputs;
    if (stored_) operands.front().dtype = outputs.front().dtype = context_.half();
    std::vector<bool> weights(fixed_ ? operands.size() : 0, true);
    if (fixed_) weights.front() = false;
    return registry_.prepare({op, operands, outputs, {true}, weights}, context_).value();
  }

  std::vector<float> run(const Op& op, const std::vector<ValueType>& inputs,
                         const std::vector<std::vector<float>>& data) {
    const Kernel kernel = prepare(op, inputs);
    engine_ = kernel.engine;
    std::vector<DeviceArray> arrays;
    std::vector<void*> pointers;
    for (const std::vector<float>& values : data) {
      const bool packs = stored_ && arrays.empty();
      pointers.push_back(arrays.emplace_back(packs ? packed(values) : values).floats());
    }
    const DeviceArray output(op.infer(inputs)[0].bytes());  // half of it where it is stored
    void* const out = output.floats();
    const DeviceArray workspace(kernel.workspace_bytes);
    const DeviceArray once(kernel.packed_bytes);
    const Args args{.inputs = pointers,
                    .outputs = {&out, 1},
                    .workspace = workspace.bytes(),
                    .packed = once.bytes()};
    if (kernel.pack) kernel.pack(args);
    sim::clear();
    kernel.enqueue(args);
    launches_ = sim::counters().launches;
    const std::vector<float> found = output.download();
    return stored_ ? unpacked(found, found.size()) : found;
  }

  /// Two 16-bit numbers a float.
  std::vector<float> packed(const std::vector<float>& values) const {
    std::vector<float> pairs((values.size() + 1) / 2);
    with_half(context_.half(), [&]<class T>() {
      auto* to = reinterpret_cast<T*>(pairs.data());
      for (const float value : values) *to++ = stored_as<T>(value);
    });
    return pairs;
  }
  std::vector<float> unpacked(const std::vector<float>& pairs, std::size_t count) const {
    std::vector<float> values(count);
    with_half(context_.half(), [&]<class T>() {
      const auto* from = reinterpret_cast<const T*>(pairs.data());
      for (float& value : values) value = to_float(*from++);
    });
    return values;
  }
  void expect_rounded_operands(Precision precision, const std::string& name, double error);

  CublasLt library_;
  Registry registry_;
  Context context_;
  bool stored_ = false;  ///< whether operand 0 and the result have 16 bits in memory
  bool fixed_ = false;   ///< whether weights stay
  std::string engine_;
  std::size_t launches_ = 0;
};

ValueType matrix(std::int64_t rows, std::int64_t columns) {
  return {DType::f32, Shape{rows, columns}};
}

double largest_error(const std::vector<float>& values, const std::vector<double>& expected) {
  EXPECT_EQ(values.size(), expected.size());
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(static_cast<double>(values[i]) - expected[i]);
    largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
  }
  return largest;
}

TEST_F(DenseCublasLt, EveryTailInFewLaunches) {
  for (const std::int64_t features : {24, 37}) {
    for (const bool bias : {false, true}) {
      for (const Activation activation : {Activation::none, Activation::relu, Activation::tanh,
                                          Activation::sigmoid, Activation::gelu}) {
        ProductCase product({.m = 20, .n = 33, .k = features, .transpose_b = true}, bias);
        for (double& value : product.expected) value = activate(activation, value);
        std::vector<ValueType> types{matrix(20, features), matrix(33, features)};
        std::vector<std::vector<float>> data{product.a, product.b};
        if (bias) {
          types.push_back({DType::f32, Shape{33}});
          data.push_back(product.bias);
        }
        const DenseOp op({.bias = bias, .activation = activation});
        EXPECT_LE(largest_error(run(op, types, data), product.expected), 1e-5);
        EXPECT_TRUE(engine_.starts_with("cublaslt")) << engine_;
        const bool fused = activation == Activation::none || activation == Activation::relu;
        EXPECT_EQ(launches_, fused ? 1U : 2U);
      }
    }
  }
}

TEST_F(DenseCublasLt, BothGradients) {
  const ProductCase by_input({.m = 20, .n = 40, .k = 33});
  EXPECT_LE(largest_error(run(DenseGradInputOp(), {matrix(20, 33), matrix(33, 40)},
                              {by_input.a, by_input.b}),
                          by_input.expected),
            1e-5);
  EXPECT_TRUE(engine_.starts_with("cublaslt")) << engine_;
  const ProductCase by_weight({.m = 33, .n = 40, .k = 20, .transpose_a = true});
  EXPECT_LE(largest_error(run(DenseGradWeightOp(), {matrix(20, 33), matrix(20, 40)},
                              {by_weight.a, by_weight.b}),
                          by_weight.expected),
            1e-5);
  EXPECT_TRUE(engine_.starts_with("cublaslt")) << engine_;
}

/// Compares products of rounded operands; `error` allows for rounded results, too.
void DenseCublasLt::expect_rounded_operands(Precision precision, const std::string& name,
                                            double error) {
  context_.precision = precision;
  const auto rounded = [&](const std::vector<float>& values) {
    return unpacked(packed(values), values.size());
  };
  // From rounded operands the product is as exact as in fp32.
  for (const std::int64_t features : {24, 37, 39}) {
    for (const Activation activation : {Activation::relu, Activation::tanh}) {
      const MatrixProduct p{.m = 20, .n = 33, .k = features, .transpose_b = true};
      const ProductCase plain(p, true);
      const std::vector<float> a = rounded(plain.a);
      const std::vector<float> b = rounded(plain.b);
      std::vector<double> expected;
      for (std::int64_t i = 0; i < p.m * p.n; ++i) {
        double sum = ProductCase::at(plain.bias, i % p.n);
        for (std::int64_t t = 0; t < features; ++t) {
          sum += ProductCase::at(a, i / p.n * features + t) *
                 ProductCase::at(b, i % p.n * features + t);
        }
        expected.push_back(activate(activation, sum));
      }
      const DenseOp op({.bias = true, .activation = activation});
      const std::vector<ValueType> types{matrix(20, features),
                                         matrix(33, features),
                                         {DType::f32, Shape{33}}};
      EXPECT_LE(largest_error(run(op, types, {plain.a, plain.b, plain.bias}), expected), 1e-5);
      EXPECT_NE(engine_.find(name), std::string::npos) << engine_;
      EXPECT_EQ(launches_, activation == Activation::relu ? 2U : 3U);
      stored_ = true;  // a result that is stored has no epilogue of the library's
      EXPECT_LE(largest_error(run(op, types, {plain.a, plain.b, plain.bias}), expected), error);
      EXPECT_EQ(launches_, 3U);
      fixed_ = true;  // and weights that stay are rounded once; rows of 37 and 39 need a copy
      EXPECT_LE(largest_error(run(op, types, {plain.a, plain.b, plain.bias}), expected), error);
      EXPECT_EQ(launches_, features == 24 ? 2U : 3U);
      stored_ = fixed_ = false;
    }
  }
  stored_ = true;
  for (const std::int64_t features : {37, 40}) {
    const ProductCase gradient({.m = 20, .n = features, .k = 32});
    EXPECT_LE(largest_error(run(DenseGradInputOp(), {matrix(20, 32), matrix(32, features)},
                                {gradient.a, gradient.b}),
                            gradient.expected),
              2 * error);
    // Rows of 37 begin off 4 bytes, which no algorithm takes: the result is rounded apart.
    const bool direct = features == 40;
    EXPECT_EQ(engine_.find(name + " to " + name) != std::string::npos, direct) << engine_;
    EXPECT_EQ(launches_, direct ? 2U : 3U) << "the weights are rounded";
  }
  stored_ = false;
  // With whole vectors the library takes an algorithm that has a workspace of its own.
  for (const std::int64_t features : {37, 40}) {
    const ProductCase gradient({.m = 33, .n = features, .k = 20, .transpose_a = true});
    EXPECT_LE(largest_error(run(DenseGradWeightOp(), {matrix(20, 33), matrix(20, features)},
                                {gradient.a, gradient.b}),
                            gradient.expected),
              2 * error);
  }
}

TEST_F(DenseCublasLt, HalvesRoundTheOperandsAlone) {
  expect_rounded_operands(Precision::bf16, "bf16", 0.03);
  expect_rounded_operands(Precision::fp16, "fp16", 0.004);
}

TEST_F(DenseCublasLt, ThePrecisionIsTheUsers) {
  const std::vector<ValueType> types{matrix(20, 24), matrix(33, 24)};
  const auto engine = [&](Precision precision, int capability) {
    context_.precision = precision;
    context_.compute_capability = capability;
    return prepare(DenseOp(), types).engine;
  };
  EXPECT_NE(engine(Precision::fp32, 90).find("fp32"), std::string::npos);
  EXPECT_NE(engine(Precision::tf32, 90).find("tf32"), std::string::npos);
  EXPECT_NE(engine(Precision::automatic, 90).find("fp32"), std::string::npos);
  EXPECT_NE(engine(Precision::bf16, 90).find("bf16"), std::string::npos);
  EXPECT_NE(engine(Precision::bf16, 75).find("tf32"), std::string::npos);
  EXPECT_NE(engine(Precision::fp16, 75).find("fp16"), std::string::npos);
}

TEST_F(DenseCublasLt, ThinEmptyAndUnaidedProductsAreLinnets) {
  EXPECT_EQ(prepare(DenseOp(), {matrix(128, 64), matrix(10, 64)}).engine, "dots by warps");
  EXPECT_EQ(prepare(DenseGradWeightOp(), {matrix(32, 10), matrix(32, 64)}).engine, "thin sums");
  EXPECT_EQ(prepare(DenseOp(), {matrix(0, 64), matrix(40, 64)}).engine, "no output");
  EXPECT_EQ(prepare(DenseGradWeightOp(), {matrix(0, 40), matrix(0, 64)}).engine, "tiles 32x32");
  context_.cublaslt = nullptr;
  EXPECT_EQ(prepare(DenseOp(), {matrix(20, 24), matrix(33, 24)}).engine, "tiles 32x32");
}

TEST_F(DenseCublasLt, MeasuredChoicesAreKept) {
  TuningCache cache;
  context_.tuning = &cache;
  const std::vector<ValueType> types{matrix(20, 24), matrix(33, 24)};
  sim::clear();
  static_cast<void>(prepare(DenseOp(), types));
  EXPECT_GT(sim::counters().launches, 0U);
  sim::clear();
  static_cast<void>(prepare(DenseOp(), types));
  EXPECT_EQ(sim::counters().launches, 0U);
}

TEST(F16, RoundsToNearestEven) {
  EXPECT_EQ(to_f16(1.0F).bits, 0x3C00);
  EXPECT_EQ(to_f16(1.0F + 0x1p-11F).bits, 0x3C00);  // a tie goes to the even one
  EXPECT_EQ(to_f16(65519.0F).bits, 0x7BFF);
  EXPECT_EQ(to_f16(65520.0F).bits, 0x7C00);  // infinity
  EXPECT_EQ(to_f16(0x1p-24F).bits, 1);
  EXPECT_EQ(to_f16(-0x1p-25F).bits, 0x8000);
  for (const float exact : {1.0F, -0.0F, 65504.0F, 0x1p-14F, 0x3p-24F, -0x1.5p3F}) {
    EXPECT_EQ(to_float(to_f16(exact)), exact);
  }
  EXPECT_TRUE(std::isnan(to_float(to_f16(std::bit_cast<float>(0x7F800001U)))));
}

TEST(Bf16, RoundsToNearestEven) {
  EXPECT_EQ(to_bf16(1.0F).bits, 0x3F80);
  EXPECT_EQ(to_bf16(std::bit_cast<float>(0x3F808000U)).bits, 0x3F80);  // a tie goes to the even one
  EXPECT_EQ(to_bf16(std::bit_cast<float>(0x3F818000U)).bits, 0x3F82);
  EXPECT_EQ(to_bf16(std::bit_cast<float>(0x3F808001U)).bits, 0x3F81);
  EXPECT_EQ(to_bf16(-0.0F).bits, 0x8000);
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::max()).bits, 0x7F80);  // infinity
  EXPECT_EQ(to_bf16(-std::numeric_limits<float>::infinity()).bits, 0xFF80);
  // All of this NaN's mantissa is in the half that is dropped.
  EXPECT_TRUE(std::isnan(to_float(to_bf16(std::bit_cast<float>(0x7F800001U)))));
  EXPECT_TRUE(std::isnan(to_float(to_bf16(std::bit_cast<float>(0xFFFFFFFFU)))));
}

}  // namespace
}  // namespace testing
}  // namespace linnet::cuda
