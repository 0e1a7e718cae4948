// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <vector>

#include "backend/cuda/kernel.h"
#include "backend/cuda/planned_kernels.h"
#include "graph/add.h"
#include "runtime/operands.h"

namespace linnet::cuda {
namespace {

std::optional<Kernel> own(const NodeView& /*node*/, const Context& /*context*/) {
  return Kernel{.enqueue = [](const Args&) {}, .engine = "own"};
}

/// Takes matrices alone.
std::optional<Kernel> library(const NodeView& node, const Context& /*context*/) {
  if (node.in(AddOp::In::a).rank() != 2) return std::nullopt;
  return Kernel{.enqueue = [](const Args&) {}, .engine = "library"};
}

std::string engine_for(const Registry& registry, Shape shape) {
  const AddOp op;
  const std::vector<ValueType> inputs(2, {DType::f32, std::move(shape)});
  const auto kernel = registry.prepare({op, inputs, {inputs.data(), 1}, {true}}, {});
  return kernel ? kernel->engine : "none";
}

TEST(CudaRegistry, AsksLibrariesBeforeOwnKernelsHoweverTheyWereAdded) {
  Registry first;
  first.add_library(AddOp::kName, "library", library);
  first.add(AddOp::kName, own);
  Registry last;
  last.add(AddOp::kName, own);
  last.add_library(AddOp::kName, "library", library);
  const AddOp op;
  const NodeView node{op, {}, {}, {}};
  for (const Registry* registry : {&first, &last}) {
    const std::vector<Candidate> candidates = registry->candidates(node, {});
    ASSERT_EQ(candidates.size(), 2U);
    EXPECT_EQ(candidates[0].engine, "library");
    EXPECT_EQ(candidates[1].engine, "own");
    EXPECT_EQ(engine_for(*registry, {2, 3}), "library");
    EXPECT_EQ(engine_for(*registry, {6}), "own");
  }
}

TEST(CudaRegistry, HasNoKernelForAnOperatorThatWasNotAdded) {
  EXPECT_EQ(engine_for(Registry(), {2, 3}), "none");
  Registry alone;
  alone.add_library(AddOp::kName, "library", library);
  EXPECT_EQ(engine_for(alone, {2, 3}), "library");
  EXPECT_EQ(engine_for(alone, {6}), "none");
}

std::optional<Kernel> with_room(const NodeView& node, const Context& /*context*/) {
  return Kernel{.enqueue = [](const Args&) {},
                .workspace_bytes = 64,
                .result_bytes = {node.outputs.front().bytes() + 1000}};
}

TEST(CudaRegistry, AKernelsResultsGetTheRoomThatItWants) {
  Graph graph;
  const Value x = graph.add_value("x", {DType::f32, {10}}, Storage::external);
  const Value y = graph.add(std::make_shared<AddOp>(), {x, x}, "y").front();
  graph.add(std::make_shared<AddOp>(), {y, x}, "z");
  Registry registry;
  registry.add(AddOp::kName, with_room);
  const Plan plan = plan_kernels(graph, registry, {}, {}).plan;
  verify_plan(plan);
  EXPECT_EQ(plan.values.at(1).bytes, 1040U);
  EXPECT_EQ(plan.values.at(2).bytes, 1040U);
}

std::optional<Kernel> with_little_room(const NodeView& /*node*/, const Context& /*context*/) {
  return Kernel{.enqueue = [](const Args&) {}, .result_bytes = {8}};
}

TEST(CudaRegistry, WhatAKernelKeepsInAResultsRoomIsNotTakenForNumbers) {
  Graph graph;
  const Value x = graph.add_value("x", {DType::f32, {10}}, Storage::external);
  const Value y = graph.add(std::make_shared<AddOp>(), {x, x}, "y").front();
  graph.add(std::make_shared<AddOp>(), {y, x}, "z");
  const std::vector<float> nan(10, std::numeric_limits<float>::quiet_NaN());
  const auto fetch = [&](std::size_t /*i*/) { return nan.data(); };
  for (const bool room : {false, true}) {
    Registry registry;
    registry.add(AddOp::kName, room ? with_little_room : own);
    const Plan plan = plan_kernels(graph, registry, {}, {}).plan;
    verify_plan(plan);
    EXPECT_EQ(has_not_finite(plan, 0, fetch), !room);
    if (room) {
      EXPECT_NO_THROW(check_outputs(plan, 0, fetch));
    }
  }
}

}  // namespace
}  // namespace linnet::cuda
