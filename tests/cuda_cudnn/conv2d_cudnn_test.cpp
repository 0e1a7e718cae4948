// SPDX-License-Identifier: Apache-2.0
// What stands around cuDNN (operands, workspaces, tails, bfloat16 copies, measured choices) on the
// simulated device, with the engines of fake_cudnn_graph.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <tuple>

#include "backend/cuda/captured_graph.h"
#include "backend/cuda/cublaslt.h"
#include "backend/cuda/cudnn_plans.h"
#include "backend/cuda/kernel.h"
#include "backend/cuda/vectors.cuh"
#include "conv2d_cases.h"
#include "ops/conv2d/conv2d.h"
#include "ops/dense/dense.h"

namespace linnet::cuda {

/// Returns how often engines of the fallback were asked for.
int& fake_fallbacks();

namespace {

TEST(Conv2dCudnn, AgreesWithTheReferenceInF32) {
  const CudnnLibrary cudnn("fake");
  TuningCache cache;
  for (const Case& c : cases()) {
    EXPECT_LT(error_of(c, with(cudnn, Precision::fp32, &cache)), 1e-5) << c.name;
    EXPECT_LT(error_of(c, with(cudnn, Precision::tf32, &cache)), 1e-5) << c.name;
  }
}

TEST(Conv2dCudnn, AgreesWithTheReferenceThroughHalves) {
  const CudnnLibrary cudnn("fake");
  TuningCache cache;
  for (const Half& half : kHalves) {
    for (const Case& c : cases()) {
      std::string engine;
      const double error = error_of(c, with(cudnn, half.precision, &cache), &engine);
      EXPECT_LT(error, half.error) << c.name;
      // Where cuDNN refuses 16 bits, f32 stands in.
      const bool taken = engine.find(half.name) != std::string::npos;
      EXPECT_EQ(taken, c.name != "dilated") << c.name;
      EXPECT_EQ(error > 2e-5, taken) << c.name;
    }
  }
}

/// A copy of weights and bias is all that stands around cuDNN; where its tensor cores want more
/// channels, images are copied too.
TEST(Conv2dCudnn, TakesImagesThatAreStoredInHalves) {
  const CudnnLibrary cudnn("fake");
  TuningCache cache;
  for (const Half& half : kHalves) {
    const Context context = with(cudnn, half.precision, &cache);
    for (const Case& c : cases()) {
      if (c.name == "dilated") {
        EXPECT_FALSE(prepare(*c.op, c.inputs, context, half.type).has_value());
        continue;
      }
      EXPECT_LT(error_of(c, context, nullptr, 0, half.type), half.error) << c.name;
    }
    // 5 filters are padded to 8; the groups of the others are left as they are.
    const auto engine = [&](const Case& c) {
      return prepare(*c.op, c.inputs, context, half.type)->engine;
    };
    const std::string odd_engine = engine(cases()[6]);
    EXPECT_NE(odd_engine.find("5 -> 8 channels"), std::string::npos) << odd_engine;
    EXPECT_EQ(engine(cases()[0]).find("channels"), std::string::npos) << engine(cases()[0]);
  }
}

/// Rounded once, weights give what they give where they are rounded in every run.
TEST(Conv2dCudnn, PacksWeightsThatStay) {
  const CudnnLibrary cudnn("fake");
  TuningCache cache;
  for (const Half& half : kHalves) {
    const Context context = with(cudnn, half.precision, &cache);
    for (const Case& c : cases()) {
      if (c.op->name() != Conv2dOp::kName || c.name == "dilated") continue;
      EXPECT_EQ(error_of(c, context, nullptr, 0, half.type, true),
                error_of(c, context, nullptr, 0, half.type))
          << c.name;
      const auto packed = [&](bool fixed) {
        return prepare(*c.op, c.inputs, context, half.type, fixed)->packed_bytes;
      };
      EXPECT_EQ(packed(false), 0U) << c.name;
      EXPECT_GT(packed(true), 0U) << c.name;
    }
  }
  const Case c = cases().front();
  EXPECT_EQ(prepare(*c.op, c.inputs, with(cudnn), DType::f32, true)->packed_bytes, 0U) << "TF32";
}

TEST(Conv2dCudnn, AsksForTheFallbackOnlyWhereItIsNeeded) {
  CudnnConvolution conv;
  conv.n = 2;
  conv.h = conv.w = conv.oh = conv.ow = 3;
  conv.c = conv.co = 8;
  conv.kh = conv.kw = 1;
  const auto asked_for = [&](const std::string& choice) {
    const CudnnLibrary cudnn("fake", true);
    TuningCache cache;
    if (!choice.empty()) cache.put("cudnn 0.0.0, fake, " + conv.describe(), choice);
    const int before = fake_fallbacks();
    const auto plan = cudnn.plan(conv, &cache);
    const std::string engine = "cudnn " + (choice.empty() ? "Fake_eng2_k1=0" : choice);
    EXPECT_TRUE(plan && plan->engine().starts_with(engine)) << plan->engine();
    return fake_fallbacks() - before;
  };
  EXPECT_EQ(asked_for("Fake_eng2_k1=0"), 0) << "a known choice, one of the first engines";
  EXPECT_EQ(asked_for("Fake_eng3_k1=0"), 1) << "a known choice of the fallback";
  EXPECT_EQ(asked_for(""), 1) << "a trial";
}

/// A dense layer with a tail that cuBLASLt has not is a convolution of one pixel, in TF32.
TEST(DenseCudnn, TakesTanhInTheSameGraph) {
  const CublasLt cublaslt = CublasLt::assumed();
  const CudnnLibrary cudnn("fake", true);  // without a trial
  TuningCache cache;
  Context context = with(cudnn, Precision::tf32, &cache);
  context.cublaslt = &cublaslt;
  const std::vector<Shape> shapes{{64, 128}, {96, 128}, {96}};
  const auto by_cudnn = [&](Activation activation) {
    const auto kernel = prepare(DenseOp({.bias = true, .activation = activation}), shapes, context);
    return kernel && kernel->engine.starts_with("cudnn");
  };
  EXPECT_TRUE(by_cudnn(Activation::tanh));
  EXPECT_FALSE(by_cudnn(Activation::sigmoid)) << "no plan";
  EXPECT_FALSE(by_cudnn(Activation::relu)) << "cuBLASLt's epilogue";
  for (const bool bias : {false, true}) {
    Case c{"dense",
           std::make_shared<DenseOp>(DenseAttrs{.bias = bias, .activation = Activation::tanh}),
           shapes};
    if (!bias) c.inputs.pop_back();
    EXPECT_LT(error_of(c, context), 1e-5) << bias;
  }
  context.precision = Precision::fp32;
  EXPECT_FALSE(by_cudnn(Activation::tanh));
  context.precision = Precision::tf32;
  context.options.cudnn = false;
  EXPECT_FALSE(by_cudnn(Activation::tanh));
}

/// cuDNN, but whatever may replace its kernels does so without a trial.
class Yielding final : public Cudnn {
 public:
  std::shared_ptr<const CudnnPlan> plan(const CudnnConvolution& problem,
                                        TuningCache* cache) const override {
    return cudnn_.plan(problem, cache);
  }
  std::optional<Kernel> kernel_if_faster(const CudnnConvolution&, const NodeView&, const Kernel&,
                                         const Wrap&, TuningCache*) const override {
    return std::nullopt;
  }
  std::optional<Kernel> rival_if_faster(const CudnnConvolution&, std::string_view, const NodeView&,
                                        const Make&, const Make& make,
                                        TuningCache*) const override {
    return make();
  }
  std::shared_ptr<const CudnnRnn> rnn_if_faster(const CudnnRecurrent&, bool, const NodeView&,
                                                const Make&, const WrapRnn&,
                                                TuningCache*) const override {
    return nullptr;
  }

 private:
  CudnnLibrary cudnn_{"fake"};
};

/// Convolutions of single pixels, of as many channels as a product is for; 33 and 20 are no
/// multiples of 8.
std::vector<Case> pixel_cases() {
  const Shape x{2, 5, 4, 20};
  const Shape w{33, 1, 1, 20};
  const Shape z{2, 5, 4, 33};
  const auto forward = [&](bool bias, Activation activation) {
    Conv2dAttrs a;
    a.bias = bias;
    a.activation = activation;
    Case c{"forward", std::make_shared<Conv2dOp>(a), {x, w}};
    if (bias) c.inputs.push_back(Shape{33});
    return c;
  };
  const Conv2dAttrs a;
  return {forward(false, Activation::none),
          forward(true, Activation::none),
          forward(true, Activation::relu),
          forward(false, Activation::relu),
          forward(true, Activation::tanh),
          {"grad_input",
           std::make_shared<Conv2dGradInputOp>(Conv2dGradInputAttrs{a, 5, 4}),
           {z, w}},
          {"grad_weight",
           std::make_shared<Conv2dGradWeightOp>(Conv2dGradWeightAttrs{a, 1, 1}),
           {x, z}}};
}

TEST(Conv2dProducts, AgreeWithTheReference) {
  const CublasLt cublaslt;
  const Yielding cudnn;
  const auto expect = [&](Precision precision, DType stored, double error) {
    Context context = with(cudnn, precision);
    context.cublaslt = &cublaslt;
    for (const Case& c : pixel_cases()) {
      std::string engine;
      EXPECT_LT(error_of(c, context, &engine, 0, stored), error) << c.name << ' ' << engine;
      EXPECT_TRUE(engine.starts_with("cublaslt")) << c.name << ' ' << engine;
    }
  };
  expect(Precision::fp32, DType::f32, 1e-5);
  expect(Precision::tf32, DType::f32, 2e-3);
  expect(Precision::automatic, DType::f32, 2e-3);
  for (const Half& half : kHalves) {
    expect(half.precision, DType::f32, half.error);
    expect(half.precision, half.type, half.error);
  }
}

TEST(Conv2dProducts, AreNoConvolutionsOfMoreThanAPixel) {
  const CublasLt cublaslt;
  const Yielding cudnn;
  Context context = with(cudnn);
  context.cublaslt = &cublaslt;
  const auto by_cublaslt = [&](const Conv2dAttrs& a, std::int64_t kernel_height = 1) {
    const std::vector<Shape> shapes{{2, 6, 4, 40 * a.groups}, {32, kernel_height, 1, 40}};
    return prepare(Conv2dOp(a), shapes, context).value().engine.starts_with("cublaslt");
  };
  EXPECT_TRUE(by_cublaslt({}));
  EXPECT_FALSE(by_cublaslt({}, 2));
  for (const auto member : {&Conv2dAttrs::stride_h, &Conv2dAttrs::stride_w, &Conv2dAttrs::groups}) {
    Conv2dAttrs a;
    a.*member = 2;
    EXPECT_FALSE(by_cublaslt(a));
  }
  for (const auto member : {&Conv2dAttrs::pad_top, &Conv2dAttrs::pad_bottom, &Conv2dAttrs::pad_left,
                            &Conv2dAttrs::pad_right}) {
    Conv2dAttrs a;
    a.*member = 1;
    EXPECT_FALSE(by_cublaslt(a));
  }
  context.cublaslt = nullptr;
  EXPECT_FALSE(by_cublaslt({}));
}

/// Engine 3 of the fake pretends to take a second.
TEST(Conv2dProducts, AreTakenWhereATrialFindsThemFaster) {
  const CublasLt cublaslt;
  const CudnnLibrary cudnn("fake");
  TuningCache cache;
  Context context = with(cudnn, Precision::tf32, &cache);
  context.cublaslt = &cublaslt;
  const Case c = pixel_cases().front();
  CudnnConvolution conv;
  std::tie(conv.n, conv.h, conv.w, conv.c) = std::tuple(2, 5, 4, 20);
  std::tie(conv.oh, conv.ow, conv.co) = std::tuple(5, 4, 33);
  conv.kh = conv.kw = 1;
  const std::string key = "cudnn 0.0.0, fake, " + conv.describe();
  const std::string question = key + ", or a product, f32 f32 -> f32: " + cublaslt.description();
  cache.put(key, "Fake_eng3_k1=0");
  const auto engine = [&] { return prepare(*c.op, c.inputs, context)->engine; };
  EXPECT_TRUE(engine().starts_with("cublaslt")) << engine();
  EXPECT_EQ(cache.get(question), "rival");
  EXPECT_TRUE(engine().starts_with("cublaslt")) << "the answer is kept";
  cache.put(question, "cudnn");
  EXPECT_TRUE(engine().starts_with("cudnn")) << "the cache decides, and nothing is measured";
  context.tuning = nullptr;
  EXPECT_TRUE(engine().starts_with("cudnn")) << "nothing may be measured";
}

/// A kernel for the 1x1 convolution of pixel_cases(), and what a cuDNN with `cache` says of it.
class RivalKernels : public ::testing::Test {
 protected:
  RivalKernels() : types_(operand_types(*case_.op, case_.inputs, DType::f32)) {
    Context context = with(cudnn_, Precision::tf32);
    own_ = *prepare(*case_.op, case_.inputs, context);
  }
  /// Returns own's kernel that runs `times` times, and then `after`.
  Kernel repeated(int times, const std::function<void(const Args&)>& after = {}) const {
    Kernel kernel = own_;
    kernel.enqueue = [times, after, once = own_.enqueue](const Args& args) {
      for (int i = 0; i < times; ++i) once(args);
      if (after) after(args);
    };
    return kernel;
  }
  bool takes(const Kernel& own, const std::optional<Kernel>& rival, TuningCache* cache) {
    const std::span all(types_);
    const NodeView node{*case_.op, all.first(2), all.subspan(2), {}};
    const auto make_own = [&] {
      ++made_own_;
      return std::optional(own);
    };
    const auto make = [&] {
      ++made_;
      return rival;
    };
    return cudnn_.rival_if_faster(some_problem_, "x", node, make_own, make, cache).has_value();
  }

  Case case_ = pixel_cases().front();
  std::vector<ValueType> types_;
  CudnnLibrary cudnn_{"fake"};
  CudnnConvolution some_problem_;
  Kernel own_;
  int made_ = 0;
  int made_own_ = 0;
};

TEST_F(RivalKernels, ATrialDecidesOnceAndForAll) {
  TuningCache cache;
  EXPECT_TRUE(takes(repeated(8), repeated(1), &cache));
  EXPECT_TRUE(takes(repeated(1), repeated(8), &cache)) << "the answer is known";
  EXPECT_EQ(made_own_, 1) << "and cuDNN is not asked for its kernel";
  TuningCache another;
  EXPECT_FALSE(takes(repeated(1), repeated(8), &another));
  EXPECT_EQ(made_, 3);
  EXPECT_FALSE(takes(repeated(8), repeated(1), &another)) << "the answer is known";
  EXPECT_EQ(made_, 3) << "and the rival is not asked for";
  EXPECT_FALSE(takes(repeated(8), repeated(1), nullptr)) << "nothing may be measured";
}

__global__ void spoil(float* y) { *y += 1000; }

TEST_F(RivalKernels, WhatIsMissingWrongOrFailsIsNotTaken) {
  const auto wrong = [](const Args& args) { launch(args.stream, "spoil", {}, spoil, args.out(0)); };
  const auto fails = [](const Args& /*args*/) { throw DeviceError("no"); };
  const std::vector<std::optional<Kernel>> rivals{std::nullopt, repeated(1, wrong),
                                                  repeated(1, fails)};
  for (const std::optional<Kernel>& rival : rivals) {
    TuningCache cache;
    EXPECT_FALSE(takes(repeated(8), rival, &cache));
  }
}

TEST(Conv2dCudnn, LeavesOwnKernelsWhatIsTheirs) {
  const CudnnLibrary cudnn("fake");
  const Conv2dOp op(attrs());
  TuningCache cache;
  Context context = with(cudnn, Precision::tf32, &cache);
  EXPECT_TRUE(prepare(op, {kX, kW}, context).has_value());
  EXPECT_FALSE(prepare(op, {Shape{0, 7, 5, 16}, kW}, context).has_value()) << "no samples";
  EXPECT_FALSE(prepare(op, {Shape{2, 7, 5, 4}, Shape{6, 3, 3, 2}}, context).has_value())
      << "sums of 18 products";
  Conv2dAttrs depthwise = attrs();
  depthwise.groups = 16;
  EXPECT_FALSE(prepare(Conv2dOp(depthwise), {kX, Shape{16, 7, 7, 1}}, context).has_value());
  context.options.cudnn = false;
  EXPECT_FALSE(prepare(op, {kX, kW}, context).has_value());
  context.options.cudnn = true;
  context.cudnn = nullptr;
  EXPECT_FALSE(prepare(op, {kX, kW}, context).has_value());
}

TEST(Conv2dCudnn, SaysWhichOperandIsNotAligned) {
  const CudnnLibrary cudnn("fake");
  TuningCache cache;
  try {
    error_of(cases()[0], with(cudnn, Precision::tf32, &cache), nullptr, 1);
    FAIL() << "an unaligned operand was taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("operand 0"), std::string::npos) << error.what();
  }
}

CudnnConvolution some_convolution() {
  CudnnConvolution conv;
  conv.n = 1;
  conv.h = conv.w = conv.oh = conv.ow = 3;
  conv.c = conv.co = 4;
  conv.kh = conv.kw = 1;
  return conv;
}

std::string key_of(const CudnnConvolution& conv) { return "cudnn 0.0.0, fake, " + conv.describe(); }

TEST(CudnnPlans, AMeasuredChoiceIsKept) {
  const CudnnConvolution conv = some_convolution();
  TuningCache cache;
  const CudnnLibrary cudnn("fake");
  const auto plan = cudnn.plan(conv, &cache);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->engine(), "cudnn Fake_eng2_k1=0, 0.0 MiB") << "the one that runs";
  EXPECT_EQ(cache.get(key_of(conv)), "Fake_eng2_k1=0");
  EXPECT_EQ(cudnn.plan(conv, &cache), plan) << "equal convolutions share a plan";
}

TEST(CudnnPlans, AKnownChoiceIsNotMeasured) {
  const CudnnConvolution conv = some_convolution();
  TuningCache cache;
  cache.put(key_of(conv), "Fake_eng3_k1=0");  // measuring would not choose it
  EXPECT_EQ(CudnnLibrary("fake").plan(conv, &cache)->engine(), "cudnn Fake_eng3_k1=0, 0.0 MiB");
}

TEST(CudnnPlans, AKnownChoiceThatFailsIsNotTaken) {
  TuningCache cache;
  cache.put(key_of(some_convolution()), "Fake_eng1_k1=0");
  EXPECT_EQ(CudnnLibrary("fake").plan(some_convolution(), &cache)->engine(),
            "cudnn Fake_eng2_k1=0, 0.0 MiB");
}

TEST(CudnnPlans, MayBeCapturedFromTheirFirstCallOn) {
  const CudnnConvolution conv = some_convolution();
  for (const bool known : {false, true}) {
    TuningCache cache;
    if (known) cache.put(key_of(conv), "Fake_eng2_k1=0");
    const auto plan = CudnnLibrary("fake").plan(conv, &cache);
    const ScratchMemory memory = try_allocate(std::size_t{1} << 14);
    auto* base = static_cast<std::byte*>(memory.get());
    const std::vector<void*> operands{base, base + 1024, base + 2048};
    const Stream stream = make_stream();
    EXPECT_NO_THROW(static_cast<void>(CapturedGraph::capture(stream.get(), [&] {
      plan->execute(stream.get(), operands, base + 4096);
    })));
  }
}

TEST(CudnnPlans, AChoiceThatCudnnNoLongerHasIsMeasuredAgain) {
  const CudnnConvolution conv = some_convolution();
  TuningCache cache;
  cache.put(key_of(conv), "Fake_eng9_k1=0");
  EXPECT_NE(CudnnLibrary("fake").plan(conv, &cache), nullptr);
  EXPECT_EQ(cache.get(key_of(conv)), "Fake_eng2_k1=0");
}

TEST(CudnnPlans, WithoutACacheTheFirstEngineThatRunsIsTaken) {
  EXPECT_EQ(CudnnLibrary("fake").plan(some_convolution(), nullptr)->engine(),
            "cudnn Fake_eng2_k1=0, 0.0 MiB");
}

/// Preparing the fake's compiled engine of another convolution is an error.
TEST(CudnnPlans, AreCompiledOnlyWhereNoOtherEngineIsGood) {
  CudnnConvolution conv = some_convolution();
  TuningCache cache;
  EXPECT_NO_THROW(static_cast<void>(CudnnLibrary("fake").plan(conv, &cache)));
  conv.tail = CudnnConvolution::Tail::tanh;
  EXPECT_EQ(CudnnLibrary("fake").plan(conv, &cache)->engine(),
            "cudnn Fake_eng5_k24=0, tensor cores, 0.0 MiB");
  conv.math = CudnnMath::fp32;
  EXPECT_EQ(CudnnLibrary("fake").plan(conv, &cache)->engine(), "cudnn Fake_eng3_k1=0, 0.0 MiB");
}

TEST(CudnnPlans, AddInAnyOrderOnlyWhereTheyMay) {
  TuningCache cache;
  const CudnnConvolution conv = some_convolution();
  const auto engine = [&](bool deterministic) {
    return CudnnLibrary("fake", false, deterministic).plan(conv, &cache)->engine();
  };
  EXPECT_EQ(engine(false), "cudnn Fake_eng4_k1=0, 0.0 MiB");
  EXPECT_EQ(engine(true), "cudnn Fake_eng2_k1=0, 0.0 MiB") << "the other choice is not its own";
  EXPECT_EQ(engine(false), "cudnn Fake_eng4_k1=0, 0.0 MiB");
}

TEST(CudnnConvolution, EveryDifferenceShowsInItsDescription) {
  const CudnnConvolution one = some_convolution();
  for (auto member :
       {&CudnnConvolution::n, &CudnnConvolution::h, &CudnnConvolution::w, &CudnnConvolution::c,
        &CudnnConvolution::oh, &CudnnConvolution::ow, &CudnnConvolution::co, &CudnnConvolution::kh,
        &CudnnConvolution::kw, &CudnnConvolution::stride_h, &CudnnConvolution::stride_w,
        &CudnnConvolution::dilation_h, &CudnnConvolution::dilation_w, &CudnnConvolution::pad_top,
        &CudnnConvolution::pad_bottom, &CudnnConvolution::pad_left, &CudnnConvolution::pad_right,
        &CudnnConvolution::groups}) {
    CudnnConvolution other = one;
    other.*member += 2;
    EXPECT_NE(other.describe(), one.describe());
  }
  CudnnConvolution other = one;
  other.bias = true;
  EXPECT_NE(other.describe(), one.describe());
  other = one;
  other.residual = true;
  EXPECT_NE(other.describe(), one.describe());
  other = one;
  other.tail = CudnnConvolution::Tail::gelu;
  EXPECT_NE(other.describe(), one.describe());
  other = one;
  other.math = CudnnMath::bf16;
  EXPECT_NE(other.describe(), one.describe());
  other.direction = CudnnConvolution::Direction::grad_weight;
  EXPECT_NE(other.describe(), one.describe());
}

}  // namespace
}  // namespace linnet::cuda
