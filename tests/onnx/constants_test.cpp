// SPDX-License-Identifier: Apache-2.0
// What files compute of constants, of shapes and of numbers that each sample has.
#include <gtest/gtest.h>
#include <linnet/tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "message_of.h"
#include "onnx/byte_models.h"
#include "onnx/onnx_bytes.h"

namespace linnet {
namespace {

using testing::computed;
using testing::expect_near;
using testing::floats;
using testing::imported;
using testing::integers;
using testing::message_of;
using testing::OnnxBytes;
using testing::refusal;
using testing::with_batch_size;

// PyTorch's mask of causal attention.
TEST(OnnxImport, computes_triangles_of_constants) {
  OnnxBytes model;
  model.dims = {0, 2, 2};
  model.initializers = {integers("dims", {2, 2}, {2}),
                        OnnxBytes::floats("w", {2, 2}, {1, 1, 1, 1})};
  model.nodes = {OnnxBytes::node("ConstantOfShape", {"dims"}, {"zeros"}, "z"),
                 OnnxBytes::node("Add", {"zeros", "w"}, {"ones"}, "a"),
                 OnnxBytes::node("Trilu", {"ones"}, {"lower"}, "l",
                                 {OnnxBytes::integer("upper", 0)}),
                 OnnxBytes::node("Trilu", {"ones"}, {"upper"}, "u"),
                 OnnxBytes::node("Mul", {"x", "lower"}, {"m"}, "m"),
                 OnnxBytes::node("Sub", {"m", "upper"}, {"y"}, "s")};
  expect_near(computed(model, 1), floats({-1, -1, 2, 2}, {1, 2, 2}), 0);
  model.initializers.push_back(integers("far", {std::numeric_limits<std::int64_t>::max()}, {}));
  model.nodes = {OnnxBytes::node("ConstantOfShape", {"dims"}, {"zeros"}, "z"),
                 OnnxBytes::node("Add", {"zeros", "w"}, {"ones"}, "a"),
                 OnnxBytes::node("Trilu", {"ones", "far"}, {"none"}, "u"),
                 OnnxBytes::node("Trilu", {"x", "far"}, {"nothing"}, "v"),
                 OnnxBytes::node("Add", {"none", "nothing"}, {"y"}, "s")};
  expect_near(computed(model, 1), floats({0, 0, 0, 0}, {1, 2, 2}), 0);
}

TEST(OnnxImport, slices_constants_along_one_axis) {
  OnnxBytes model;
  model.dims = {0, 2};
  const auto slice = [&](std::vector<std::int64_t> starts, std::vector<std::int64_t> ends,
                         std::vector<std::int64_t> axes, std::vector<std::int64_t> steps) {
    const std::int64_t count = std::ssize(axes);
    model.initializers = {OnnxBytes::floats("w", {2, 4}, {0, 1, 2, 3, 4, 5, 6, 7}),
                          integers("s", starts, {count}), integers("e", ends, {count}),
                          integers("a", axes, {count}), integers("t", steps, {count})};
    model.nodes = {OnnxBytes::node("Slice", {"w", "s", "e", "a", "t"}, {"part"}, "n"),
                   OnnxBytes::node("MatMul", {"x", "part"}, {"y"}, "m")};
  };
  slice({0, -5}, {9, 3}, {0, 1}, {1, 2});
  expect_near(computed(model, 1), floats({4, 6}, {1, 2}), 0);
  slice({-1, 0}, {-9, 2}, {1, 0}, {-3, 1});
  expect_near(computed(model, 1), floats({7, 4}, {1, 2}), 0);
  slice({0, 0}, {2, 2}, {1, -1}, {1, 1});
  EXPECT_NE(refusal(model).find("expected each axis once"), std::string::npos) << refusal(model);
  slice({0, 1}, {1, 2}, {0, 1}, {1, 1});
  EXPECT_NE(refusal(model).find("expected one axis"), std::string::npos) << refusal(model);
  slice({1}, {std::int64_t{1} << 50}, {1}, {1});
  model.initializers[0] = OnnxBytes::tensor("w", {0, std::int64_t{1} << 50}, 1, "");
  EXPECT_NE(refusal(model), "");
}

// Exporters leave nodes that compute on constants in their files.
TEST(OnnxImport, computes_any_operator_on_constants) {
  OnnxBytes model;
  model.dims = {0, 2};
  model.initializers = {OnnxBytes::floats("a", {2, 2}, {1, 2, 3, 4}),
                        OnnxBytes::floats("b", {2, 2}, {1, 0, 1, 1}), integers("axis", {1}, {1})};
  model.nodes = {OnnxBytes::node("MatMul", {"a", "b"}, {"c"}, "c"),
                 OnnxBytes::node("ReduceMean", {"c"}, {"m"}, "m",
                                 {OnnxBytes::integers("axes", {1}),
                                  OnnxBytes::integer("keepdims", 0)}),
                 OnnxBytes::node("Relu", {"m"}, {"r"}, "r"),
                 OnnxBytes::node("Add", {"x", "r"}, {"y"}, "y")};
  expect_near(computed(model, 2), floats({2.5, 6.5, 4.5, 8.5}, {2, 2}), 0);
  model.initializers = {OnnxBytes::floats("a", {2, 3}, {1, 2, 3, 4, 5, 6}),
                        integers("places", {2, 0, 0, 1}, {2, 2})};
  model.nodes = {OnnxBytes::node("GatherElements", {"a", "places"}, {"g"}, "g",
                                 {OnnxBytes::integer("axis", 1)}),
                 OnnxBytes::node("ReduceSum", {"g"}, {"s"}, "s",
                                 {OnnxBytes::integer("keepdims", 0)}),
                 OnnxBytes::node("Mul", {"x", "s"}, {"y"}, "y")};
  expect_near(computed(model, 1), floats({0, 13}, {1, 2}), 0);
}

TEST(OnnxImport, refuses_constants_that_take_long) {
  OnnxBytes model;
  model.initializers = {integers("dims", {4000, 4000}, {2})};
  model.nodes = {OnnxBytes::node("ConstantOfShape", {"dims"}, {"a"}, "a"),
                 OnnxBytes::node("MatMul", {"a", "a"}, {"b"}, "b"),
                 OnnxBytes::node("Add", {"x", "b"}, {"y"}, "y")};
  EXPECT_NE(message_of([&] { imported(model); }).find("computing it on constants takes"),
            std::string::npos);
}

// As transformers picks each sample's own row of its mask.
TEST(OnnxImport, takes_places_of_each_sample_by_its_number) {
  OnnxBytes model;
  model.dims = {0, 3};
  model.initializers = {integers("zero", {0}, {}), integers("one", {1}, {}),
                        integers("last", {1}, {1}), integers("columns", {2, 0}, {1, 2, 1})};
  const auto tuples = [&](const std::vector<std::string>& shifted) {
    std::vector<std::string> nodes = {OnnxBytes::node("Range", {"zero", "n", "one"}, {"samples"},
                                                      "samples"),
                                      OnnxBytes::node("Unsqueeze", {"samples", "last"}, {"a"}, "a"),
                                      OnnxBytes::node("Unsqueeze", {"a", "last"}, {"rows"},
                                                      "rows")};
    nodes.insert(nodes.end(), shifted.begin(), shifted.end());
    nodes.insert(nodes.end(), {OnnxBytes::node("Max", {"rows", "columns"}, {"both"}, "both"),
                               OnnxBytes::node("Shape", {"both"}, {"wide"}, "wide"),
                               OnnxBytes::node("Expand", {"place", "wide"}, {"p"}, "p"),
                               OnnxBytes::node("Expand", {"columns", "wide"}, {"q"}, "q"),
                               OnnxBytes::node("Concat", {"p", "q"}, {"tuples"}, "tuples",
                                               {OnnxBytes::integer("axis", -1)}),
                               OnnxBytes::node("GatherND", {"x", "tuples"}, {"y"}, "y")});
    return with_batch_size(nodes);
  };
  model.nodes = tuples({OnnxBytes::node("Identity", {"rows"}, {"place"}, "place")});
  expect_near(computed(model, 2), floats({2, 0, 5, 3}, {2, 2}), 0);
  // The next sample's row is not a sample's own.
  model.nodes = tuples({OnnxBytes::node("Add", {"rows", "one"}, {"place"}, "place")});
  EXPECT_NE(message_of([&] { imported(model); }).find("elements of other samples"),
            std::string::npos);
}

TEST(OnnxImport, repeats_settings_over_the_batch) {
  OnnxBytes model;
  model.dims = {0, 2};
  model.initializers = {integers("zero", {0}, {}), integers("first", {0}, {1}),
                        integers("two", {2}, {1}), OnnxBytes::floats("row", {1, 2}, {1, 10}),
                        OnnxBytes::floats("table", {2, 1}, {5, 7})};
  const auto repeated = [&](const std::vector<std::string>& more) {
    std::vector<std::string> nodes = {OnnxBytes::node("Unsqueeze", {"n", "first"}, {"count"},
                                                      "count"),
                                      OnnxBytes::node("Concat", {"count", "two"}, {"dims"}, "dims",
                                                      {OnnxBytes::integer("axis", 0)}),
                                      OnnxBytes::node("Expand", {"row", "dims"}, {"rows"}, "rows")};
    nodes.insert(nodes.end(), more.begin(), more.end());
    return with_batch_size(nodes);
  };
  model.nodes = repeated({OnnxBytes::node("Neg", {"rows"}, {"minus"}, "minus"),
                          OnnxBytes::node("Mul", {"x", "minus"}, {"y"}, "y")});
  expect_near(computed(model, 2), floats({0, -10, -2, -30}, {2, 2}), 0);
  // Ids of a table, of which each sample has the same.
  model.nodes =
      repeated({OnnxBytes::node("ConstantOfShape", {"dims"}, {"zeros"}, "zeros"),
                OnnxBytes::node("Cast", {"zeros"}, {"ids"}, "ids", {OnnxBytes::integer("to", 7)}),
                OnnxBytes::node("Gather", {"table", "ids"}, {"found"}, "found"),
                OnnxBytes::node("Unsqueeze", {"x", "two"}, {"wide"}, "wide"),
                OnnxBytes::node("Add", {"wide", "found"}, {"y"}, "y")});
  expect_near(computed(model, 2), floats({5, 6, 7, 8}, {2, 2, 1}), 0);
  model.nodes = repeated({OnnxBytes::node("ReduceSum", {"rows"}, {"y"}, "sum")});
  EXPECT_NE(message_of([&] { imported(model); }).find("depends on the batch size"),
            std::string::npos);
}

// As RoBERTa numbers the words that are not padding.
TEST(OnnxImport, looks_up_ids_that_it_computes) {
  OnnxBytes model;
  model.dims = {0, 3};
  model.initializers = {OnnxBytes::floats("one", {}, {1}), integers("axis", {1}, {}),
                        OnnxBytes::floats("table", {4, 1}, {0, 10, 20, 30})};
  model.nodes = {OnnxBytes::node("Less", {"x", "one"}, {"small"}, "small"),
                 OnnxBytes::node("Cast", {"small"}, {"ones"}, "ones",
                                 {OnnxBytes::integer("to", 7)}),
                 OnnxBytes::node("CumSum", {"ones", "axis"}, {"sums"}, "sums"),
                 OnnxBytes::node("Gather", {"table", "sums"}, {"y"}, "y")};
  expect_near(computed(model, 1), floats({10, 10, 10}, {1, 3, 1}), 0);
}

// As XCiT repeats its positions, and EdgeNeXt counts them.
TEST(OnnxImport, tiles_and_sums_constants_of_each_sample) {
  OnnxBytes model;
  model.dims = {0, 2};
  model.initializers = {integers("zero", {0}, {}), integers("first", {0}, {1}),
                        integers("once", {1}, {1}), integers("axis", {1}, {}),
                        OnnxBytes::floats("row", {1, 2}, {5, 7})};
  const auto summed = [&](const std::vector<std::string>& how) {
    return with_batch_size({OnnxBytes::node("Unsqueeze", {"n", "first"}, {"count"}, "count"),
                            OnnxBytes::node("Concat", {"count", "once"}, {"repeats"}, "repeats",
                                            {OnnxBytes::integer("axis", 0)}),
                            OnnxBytes::node("Tile", {"row", "repeats"}, {"rows"}, "rows"),
                            OnnxBytes::node("CumSum", {"rows", "axis"}, {"sums"}, "sums", how),
                            OnnxBytes::node("Add", {"x", "sums"}, {"y"}, "y")});
  };
  model.nodes = summed({});
  expect_near(computed(model, 2), floats({5, 13, 7, 15}, {2, 2}), 0);
  model.nodes = summed({OnnxBytes::integer("reverse", 1), OnnxBytes::integer("exclusive", 1)});
  expect_near(computed(model, 2), floats({7, 1, 9, 3}, {2, 2}), 0);
}

TEST(OnnxImport, refuses_repeats_that_each_sample_has) {
  OnnxBytes model;
  model.dims = {0, 2};
  model.initializers = {integers("zero", {0}, {}), integers("first", {0}, {1}),
                        OnnxBytes::floats("row", {1}, {5})};
  model.nodes = with_batch_size(
      {OnnxBytes::node("Unsqueeze", {"n", "first"}, {"count"}, "count"),
       OnnxBytes::node("ConstantOfShape", {"count"}, {"zeros"}, "zeros"),
       OnnxBytes::node("Cast", {"zeros"}, {"repeats"}, "repeats", {OnnxBytes::integer("to", 7)}),
       OnnxBytes::node("Tile", {"row", "repeats"}, {"rows"}, "rows"),
       OnnxBytes::node("Add", {"x", "rows"}, {"y"}, "y")});
  EXPECT_NE(refusal(model).find("cannot repeat (1) for every sample"), std::string::npos)
      << refusal(model);
}

// As EdgeNeXt convolves its positions, which it repeats for each sample.
TEST(OnnxImport, convolves_constants_of_each_sample) {
  OnnxBytes model;
  model.dims = {0, 2, 1};
  model.initializers = {integers("zero", {0}, {}), integers("first", {0}, {1}),
                        integers("once", {1, 1}, {2}), OnnxBytes::floats("row", {1, 1, 2}, {5, 7}),
                        OnnxBytes::floats("w", {2, 1, 2}, {1, 1, 0, 2})};
  model.nodes = with_batch_size({OnnxBytes::node("Unsqueeze", {"n", "first"}, {"count"}, "count"),
                                 OnnxBytes::node("Concat", {"count", "once"}, {"repeats"},
                                                 "repeats", {OnnxBytes::integer("axis", 0)}),
                                 OnnxBytes::node("Tile", {"row", "repeats"}, {"rows"}, "rows"),
                                 OnnxBytes::node("Conv", {"rows", "w"}, {"places"}, "places"),
                                 OnnxBytes::node("Add", {"x", "places"}, {"y"}, "y")});
  expect_near(computed(model, 2), floats({12, 15, 14, 17}, {2, 2, 1}), 0);
}

// As NFNets standardise their weights.
TEST(OnnxImport, standardises_constants) {
  OnnxBytes model;
  model.dims = {0, 2};
  model.initializers = {OnnxBytes::floats("w", {1, 2, 2}, {1, 3, 5, 9}),
                        OnnxBytes::floats("scale", {2}, {2, 1}),
                        OnnxBytes::floats("bias", {2}, {0, 10}),
                        OnnxBytes::floats("mean", {2}, {1, 1}),
                        OnnxBytes::floats("var", {2}, {4, 1}),
                        integers("to", {2, 2}, {2})};
  for (const std::int64_t training : {1, 0}) {
    model.nodes = {OnnxBytes::node("BatchNormalization", {"w", "scale", "bias", "mean", "var"},
                                   {"norm"}, "n", {OnnxBytes::integer("training_mode", training)}),
                   OnnxBytes::node("Reshape", {"norm", "to"}, {"weight"}, "r"),
                   OnnxBytes::node("MatMul", {"x", "weight"}, {"y"}, "m")};
    // Rows of the weight: {-2, 2} and {9, 11}, or by the given statistics {0, 2} and {14, 18}.
    expect_near(computed(model, 1),
                training == 1 ? floats({9, 11}, {1, 2}) : floats({14, 18}, {1, 2}), 1e-3);
  }
}

TEST(OnnxImport, takes_the_rest_of_constants_by_either_sign) {
  OnnxBytes model;
  model.dims = {0, 2};
  model.initializers = {integers("a", {7, -7}, {2}), integers("b", {3, 3}, {2})};
  for (const std::int64_t fmod : {0, 1}) {
    model.nodes = {OnnxBytes::node("Mod", {"a", "b"}, {"rest"}, "rest",
                                   {OnnxBytes::integer("fmod", fmod)}),
                   OnnxBytes::node("Cast", {"rest"}, {"factor"}, "factor",
                                   {OnnxBytes::integer("to", 1)}),
                   OnnxBytes::node("Mul", {"x", "factor"}, {"y"}, "y")};
    const float second = fmod == 1 ? -1.0F : 2.0F;
    expect_near(computed(model, 2), floats({0, second, 2, 3 * second}, {2, 2}), 0);
  }
}

// As PyTorch writes an adaptive pool of a smaller image.
TEST(OnnxImport, takes_constant_places_before_the_batch) {
  OnnxBytes model;
  model.dims = {0, 2, 3};
  model.initializers = {integers("places", {0, 2, 1, 0}, {2, 2})};
  model.nodes = {OnnxBytes::node("Transpose", {"x"}, {"turned"}, "t",
                                 {OnnxBytes::integers("perm", {1, 2, 0})}),
                 OnnxBytes::node("GatherND", {"turned", "places"}, {"found"}, "g"),
                 OnnxBytes::node("Transpose", {"found"}, {"y"}, "b",
                                 {OnnxBytes::integers("perm", {1, 0})})};
  expect_near(computed(model, 2), floats({2, 3, 8, 9}, {2, 2}), 0);
}

// As SwiftF0 asks whether the place of the largest is of a band.
TEST(OnnxConstants, of_bools_are_looked_up_by_ids) {
  OnnxBytes model;
  model.initializers = {OnnxBytes::floats("c", {4}, {0, 1, 0, 1}),
                        OnnxBytes::floats("half", {1}, {0.5})};
  model.nodes = {OnnxBytes::node("Greater", {"c", "half"}, {"table"}, "g"),
                 OnnxBytes::node("ArgMax", {"x"}, {"ids"}, "a", {OnnxBytes::integer("axis", 1)}),
                 OnnxBytes::node("Gather", {"table", "ids"}, {"is"}, "t"),
                 OnnxBytes::node("Where", {"is", "x", "half"}, {"y"}, "w")};
  expect_near(computed(model, 1), floats({0, 1, 2, 3}, {1, 4}), 0);
}

// As Swin's masks of shifted windows: the windows of all samples become one axis.
TEST(OnnxConstants, of_samples_become_rows_of_all_samples) {
  OnnxBytes model;
  model.dims = {0, 2};
  model.initializers = {OnnxBytes::floats("c", {2, 3}, {1, 2, 3, 4, 5, 6}),
                        integers("first", {0}, {1}), integers("own", {2, 3}, {2}),
                        integers("rows", {-1, 3}, {2}), integers("flat", {-1, 6}, {2})};
  model.nodes = {OnnxBytes::node("Shape", {"x"}, {"shape"}, "s"),
                 OnnxBytes::node("Gather", {"shape", "first"}, {"n"}, "g"),
                 OnnxBytes::node("Concat", {"n", "own"}, {"to"}, "c",
                                 {OnnxBytes::integer("axis", 0)}),
                 OnnxBytes::node("Unsqueeze", {"c", "first"}, {"c1"}, "u"),
                 OnnxBytes::node("Expand", {"c1", "to"}, {"each"}, "e"),
                 OnnxBytes::node("Reshape", {"each", "rows"}, {"all"}, "r"),
                 OnnxBytes::node("Reshape", {"all", "flat"}, {"y"}, "f")};
  const Tensor wanted = floats({1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}, {2, 6});
  expect_near(computed(model, 2), wanted, 0);
}

TEST(OnnxConstants, may_be_empty) {
  OnnxBytes model;
  model.initializers = {integers("none", {0}, {1}), integers("some", {0, 0, 0, 1}, {4}),
                        integers("rows", {0, 3}, {2})};
  model.nodes = {OnnxBytes::node("ConstantOfShape", {"none"}, {"empty"}, "e"),
                 OnnxBytes::node("Concat", {"some", "empty"}, {"p"}, "c",
                                 {OnnxBytes::integer("axis", 0)}),
                 OnnxBytes::node("Pad", {"x", "p"}, {"y"}, "n")};
  expect_near(computed(model, 1), floats({0, 1, 2, 3, 0}, {1, 5}), 0);
  model.nodes = {OnnxBytes::node("ConstantOfShape", {"rows"}, {"empty"}, "e"),
                 OnnxBytes::node("Concat", {"empty", "empty"}, {"p"}, "c",
                                 {OnnxBytes::integer("axis", 1)}),
                 OnnxBytes::node("Add", {"x", "p"}, {"y"}, "n")};
  EXPECT_NE(refusal(model).find("cannot join empty constants"), std::string::npos)
      << refusal(model);
}

}  // namespace
}  // namespace linnet
