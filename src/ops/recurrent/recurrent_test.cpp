// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/recurrent.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

constexpr Cell kCells[] = {Cell::tanh, Cell::relu, Cell::gru, Cell::gru_original, Cell::lstm};

struct Sizes {
  std::int64_t n = 3;
  std::int64_t steps = 4;
  std::int64_t features = 5;
  std::int64_t units = 7;
};

/// Not with NVIDIA's libraries: where cuDNN's layer is the faster one, `saved` stays unwritten and
/// its gradient does not read it. tools/gpu_check.sh compares such a training with the CPU's.
const std::vector<std::string> kOwnKernels{"CPU", "simulated", "own kernels"};

OpCase recurrent(const std::string& name, const RecurrentAttrs& attrs, const Sizes& sizes,
                 double scale = 0.5) {
  const std::int64_t columns = cell_gates(attrs.cell) * sizes.units;
  OpCase c{.name = name,
           .op = make_op(RecurrentOp(attrs)),
           .inputs = {f32({sizes.n, sizes.steps, sizes.features}), f32({columns, sizes.features}),
                      f32({columns, sizes.units})},
           .fills = {{-1, 1}, {-scale, scale}},
           .roots = {true, true, false},
           .devices = kOwnKernels};
  if (attrs.bias) c.inputs.insert(c.inputs.end(), 2, f32({columns}));
  return c;
}

TEST(Recurrent, AgreesWithTheReference) {
  for (Cell cell : kCells) {
    check(recurrent("recurrent", {.cell = cell}, {}));
    check(recurrent("recurrent reverse", {.cell = cell, .reverse = true}, {}));
    check(recurrent("recurrent without bias", {.cell = cell, .bias = false}, {}));
  }
}

TEST(Recurrent, SmallestSizesAgreeWithTheReference) {
  for (Cell cell : kCells) {
    check(recurrent("recurrent one step", {.cell = cell}, {.steps = 1}));
    check(recurrent("recurrent one sample", {.cell = cell}, {.n = 1}));
    check(recurrent("recurrent one unit", {.cell = cell}, {.features = 1, .units = 1}));
    OpCase empty = recurrent("recurrent no sample", {.cell = cell}, {.n = 0});
    empty.gradient = false;
    check(empty);
  }
}

TEST(Recurrent, OneGradientAloneIsEnough) {
  for (Cell cell : {Cell::gru, Cell::lstm}) {
    for (bool sequence : {false, true}) {
      OpCase c = recurrent("recurrent root", {.cell = cell}, {});
      c.roots = {sequence, !sequence, false};
      check(c);
    }
  }
}

/// Whole vectors and rests, several blocks of samples, and weights that change the state little.
TEST(Recurrent, ManyUnitsAndSamplesAgreeWithTheReference) {
  for (Cell cell : kCells) {
    OpCase c = recurrent("recurrent blocks", {.cell = cell}, {11, 2, 5, 37}, 0.1);
    c.tolerance = 5e-5;
    check(c);
  }
}

/// Panels of all widths, whole and cut off, and several chunks of steps.
TEST(Recurrent, ManyFeaturesAgreeWithTheReference) {
  for (std::int64_t features : {64, 83}) {
    OpCase c = recurrent("recurrent features", {}, {9, 17, features, 20}, 0.1);
    c.tolerance = 5e-5;
    check(c);
  }
}

/// So wide that CUDA's blocks don't find room in shared memory.
TEST(Recurrent, WideStatesAgreeWithTheReference) {
  const std::int64_t units = 3076;
  OpCase c =
      recurrent("recurrent wide", {.cell = Cell::tanh, .bias = false}, {1, 1, 1, units}, 0.01);
  c.gradient = false;
  check(c);
  c.op = make_op(RecurrentGradOp({.cell = Cell::tanh, .bias = false, .last_gradient = true}));
  c.inputs.insert(c.inputs.end(), {f32({1, 1, 2 * units}), f32({1, units})});
  check(c);
}

TEST(Recurrent, ManyStepsAgreeWithTheReference) {
  for (Cell cell : {Cell::gru, Cell::lstm}) {
    OpCase c = recurrent("recurrent long", {.cell = cell}, {.n = 2, .steps = 150}, 0.4);
    c.tolerance = 5e-5;
    check(c);
  }
}

/// The CPU multiplies some steps at once.
TEST(Recurrent, PartsOfTheStepsAgreeWithTheReference) {
  for (bool reverse : {false, true}) {
    const Sizes s{.n = 2, .steps = 2100, .features = 2, .units = 16};
    const std::int64_t columns = 3 * s.units;
    check(
        {.name = "recurrent grad steps",
         .op = make_op(RecurrentGradOp({.reverse = reverse, .last_gradient = true})),
         .inputs = {f32({s.n, s.steps, s.features}), f32({columns, s.features}),
                    f32({columns, s.units}), f32({columns}), f32({columns}),
                    f32({s.n, s.steps, 5 * s.units}), f32({s.n, s.units})},
         .fills = {{-0.1, 0.1}, {-0.1, 0.1}, {-0.1, 0.1}, {-1, 1}, {-1, 1}, {0.1, 0.999}, {-1, 1}},
         .gradient = false,
         .devices = kOwnKernels});
  }
}

OpCase recurrent_grad(const std::string& name, Cell cell, bool reverse, const Sizes& s) {
  const std::int64_t columns = cell_gates(cell) * s.units;
  return {.name = name,
          .op = make_op(RecurrentGradOp({.cell = cell, .reverse = reverse, .y_gradient = true})),
          .inputs = {f32({s.n, s.steps, s.features}), f32({columns, s.features}),
                     f32({columns, s.units}), f32({columns}), f32({columns}),
                     f32({s.n, s.steps, cell_saved(cell) * s.units}), f32({s.n, s.steps, s.units})},
          .gradient = false,
          .devices = kOwnKernels};
}

/// So many samples that CUDA takes two a block, or four.
TEST(RecurrentGrad, ManySamplesAgreeWithTheReference) {
  for (Cell cell : {Cell::gru, Cell::gru_original, Cell::lstm}) {
    for (bool reverse : {false, true}) {
      check(recurrent_grad("recurrent grad samples", cell, reverse, {257, 3, 2, 3}));
    }
  }
}

/// Weights that fill the registers of CUDA's blocks more and more, and those that do not fit.
TEST(Recurrent, WeightsOfEverySizeAgreeWithTheReference) {
  for (Cell cell : {Cell::relu, Cell::gru, Cell::lstm}) {
    for (std::int64_t units : {40, 72, 100, 130}) {
      const Sizes sizes{.n = 2, .steps = 3, .features = 3, .units = units};
      OpCase forward = recurrent("recurrent sizes", {.cell = cell}, sizes, 0.1);
      forward.gradient = false;
      forward.tolerance = 5e-5;
      check(forward);
      OpCase backward = recurrent_grad("recurrent grad sizes", cell, false, sizes);
      backward.fills = {{-1, 1}, {-0.1, 0.1}, {-0.1, 0.1}};
      backward.tolerance = 5e-5;
      check(backward);
    }
  }
}

/// Weights so large that a CPU's tasks share each step: a few samples, several chunks of steps, and
/// several blocks of samples.
TEST(Recurrent, SharedStepsAgreeWithTheReference) {
  struct SharedCase {
    Cell cell;
    Sizes sizes;
    bool reverse = false;
  };
  for (const auto& [cell, sizes, reverse] :
       {SharedCase{Cell::lstm, {3, 45, 9, 150}}, SharedCase{Cell::lstm, {135, 2, 40, 270}, true},
        SharedCase{Cell::gru, {2, 70, 33, 135}, true}, SharedCase{Cell::gru, {70, 3, 5, 300}},
        SharedCase{Cell::tanh, {129, 2, 17, 520}}}) {
    OpCase forward = recurrent("recurrent shared", {.cell = cell, .reverse = reverse}, sizes, 0.1);
    forward.gradient = false;
    forward.tolerance = 5e-5;
    forward.devices = {"CPU"};
    check(forward);
    OpCase backward = recurrent_grad("recurrent grad shared", cell, reverse, sizes);
    backward.devices = {"CPU"};
    backward.fills = {{-1, 1}, {-0.1, 0.1}, {-0.1, 0.1}};
    backward.tolerance = 5e-5;
    check(backward);
  }
}

TEST(Recurrent, ExtremeSumsSaturate) {
  for (Cell cell : {Cell::tanh, Cell::gru, Cell::gru_original, Cell::lstm}) {
    OpCase c = recurrent("recurrent extreme", {.cell = cell}, {});
    c.fills = {{-300, 300}, {-30, 30}, {-0.5, 0.5}};
    c.gradient = false;
    check(c);
  }
}

TEST(Recurrent, NamesTheOperandsAndTheirShapes) {
  const OpPtr op = make_op(RecurrentOp({.cell = Cell::gru, .bias = false}));
  EXPECT_EQ(inference_error(op, {f32({2, 3, 4}), f32({15, 4}), f32({12, 5})}, "words"),
            "[recurrent 'words'] expected f32 weights of 15 rows for 5 units, on 4 features; got "
            "x=(2, 3, 4), w_ih=(15, 4), w_hh=(12, 5)");
  EXPECT_EQ(inference_error(op, {f32({2, 4}), f32({15, 4}), f32({15, 5})}, "words"),
            "[recurrent 'words'] expected 3 operands, x (N, T, F), w_ih (3 U, F) and w_hh (3 U, U) "
            "first; got x=(2, 4), w_ih=(15, 4), w_hh=(15, 5)");
  EXPECT_EQ(inference_error(op, {f32({2, 0, 4}), f32({15, 4}), f32({15, 5})}, "words"),
            "[recurrent 'words'] expected at least one step; got x=(2, 0, 4), w_ih=(15, 4), "
            "w_hh=(15, 5)");
  EXPECT_NE(inference_error(op, {f32({2, 3, 4}), f32({15, 3}), f32({15, 5})}), "");
}

}  // namespace
}  // namespace linnet::testing
