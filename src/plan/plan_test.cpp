// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "fake_op.h"
#include "ops/activation/activation.h"
#include "ops/collect/collect.h"
#include "ops/dense/dense.h"
#include "plan/step_time.h"

namespace linnet {
namespace {

using testing::add_fake;
using testing::add_fake_one;
using testing::fake_backend;
using testing::fake_workspace;
using testing::floats;

const Placement& place(const Plan& plan, Value value) {
  return plan.values[static_cast<std::size_t>(value.id)];
}

bool overlap(std::size_t a, std::size_t a_bytes, std::size_t b, std::size_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}
bool overlap(const Placement& a, const Placement& b) {
  return a.storage == b.storage && overlap(a.offset, a.bytes, b.offset, b.bytes);
}

constexpr std::size_t kArena = static_cast<std::size_t>(Storage::arena);

TEST(Plan, LetsViewsShareMemory) {
  Graph graph;
  const Value x = graph.add_value("x", floats(100), Storage::external);
  const Value a = add_fake_one(graph, {}, {x}, "a");
  const Value v = add_fake_one(graph, {.view = true}, {a}, "v");
  const Value w = add_fake_one(graph, {.view = true}, {v}, "w");
  const Value b = add_fake_one(graph, {}, {w}, "b");
  const Value c = add_fake_one(graph, {}, {b, v}, "c");
  for (const bool reuse : {true, false}) {
    const Plan plan = make_plan(graph, fake_workspace, {.reuse = reuse});
    verify_plan(plan);
    EXPECT_FALSE(plan.runs(1) || plan.runs(2));
    EXPECT_TRUE(plan.runs(0) && plan.runs(3));
    EXPECT_EQ(place(plan, v).root, a.id);
    EXPECT_EQ(place(plan, w).root, a.id);
    EXPECT_EQ(place(plan, w).offset, place(plan, a).offset);
    // The view is read after b is written, so a's memory is not free for b or c.
    EXPECT_FALSE(overlap(place(plan, a), place(plan, b)));
    EXPECT_FALSE(overlap(place(plan, a), place(plan, c)));
  }
}

TEST(Plan, PredictsTheTimeOfWhatBoundsEachOperator) {
  Graph graph;
  const Value x = graph.add_value("x", floats(100), Storage::external);
  const Value a = add_fake_one(graph, {}, {x}, "a");  // 100 FLOP, 800 bytes
  const Value v = add_fake_one(graph, {.view = true}, {a}, "v");
  add_fake(graph, {}, {v}, "b");
  const Plan plan = make_plan(graph, fake_workspace);
  const auto seconds = [&](DeviceRates rates) { return predicted_seconds(plan, rates); };
  EXPECT_DOUBLE_EQ(
      seconds({.flops_per_second = 50, .bytes_per_second = 8000, .seconds_per_operator = 0.25}),
      4.5);
  EXPECT_DOUBLE_EQ(
      seconds({.flops_per_second = 5000, .bytes_per_second = 400, .seconds_per_operator = 0.25}),
      4.5);
}

TEST(Plan, ShowsViewsOfMemoryOutsideTheArena) {
  Graph graph;
  const Value x = graph.add_value("x", floats(16), Storage::external, 3);
  const Value p = graph.add_value("p", floats(16), Storage::parameter, 128);
  const Value v = add_fake_one(graph, {.view = true}, {x}, "v");
  const Value w = add_fake_one(graph, {.view = true}, {p}, "w");
  add_fake(graph, {.in_place = 2}, {v, w}, "sum");
  const Plan plan = make_plan(graph, fake_workspace);
  verify_plan(plan);
  EXPECT_EQ(place(plan, v).storage, Storage::external);
  EXPECT_EQ(place(plan, v).offset, 3U);
  EXPECT_EQ(place(plan, w).storage, Storage::parameter);
  EXPECT_EQ(place(plan, w).offset, 128U);
  EXPECT_EQ(plan.bytes[kArena], 64U) << "neither view may be taken over";
}

TEST(Plan, CopiesAViewThatHasMemoryOfItsOwn) {
  Graph graph;
  const Value x = graph.add_value("x", floats(16), Storage::external);
  const Value a = add_fake_one(graph, {}, {x}, "a");
  const Value v = add_fake_one(graph, {.view = true}, {a}, "v");
  graph.info(v).storage = Storage::gradient;
  const Plan plan = make_plan(graph, fake_workspace);
  verify_plan(plan);
  EXPECT_TRUE(plan.runs(1));
  EXPECT_EQ(place(plan, v).storage, Storage::gradient);
}

std::size_t no_workspace(const Node& /*node*/) { return 0; }

/// x -> big -> a, b, which are collected with a gap between; big dies before b.
struct Collecting {
  Graph graph;
  Value big, a, b, all;
  Collecting() {
    const Value x = graph.add_value("x", floats(16), Storage::external);
    big = add_fake_one(graph, {.elements = 64}, {x}, "big");
    a = add_fake_one(graph, {.elements = 16}, {big}, "a");
    b = add_fake_one(graph, {.elements = 32}, {x}, "b");
    all = graph.emit(CollectOp({.length = 80, .begins = {0, 32}}), {a, b}, "all");
    add_fake(graph, {.elements = 16}, {all}, "end");
  }
};

TEST(Plan, CollectsWhereOperandsLie) {
  const Collecting c;
  const Plan plan = make_plan(c.graph, no_workspace);
  verify_plan(plan);
  EXPECT_EQ(place(plan, c.a).offset, place(plan, c.all).offset);
  EXPECT_EQ(place(plan, c.b).offset, place(plan, c.all).offset + 32 * sizeof(float));
  EXPECT_EQ(plan.bytes[kArena], (80 + 16) * sizeof(float))
      << "big fits beside a, in what is b's later";

  const Plan apart = make_plan(c.graph, no_workspace, {.reuse = false});
  verify_plan(apart);
  EXPECT_FALSE(overlap(place(apart, c.a), place(apart, c.all)));
}

TEST(Plan, CollectsACopyOfWhatOthersNeed) {
  Collecting c;
  add_fake(c.graph, {}, {c.a, c.all}, "reader of both");
  const Plan plan = make_plan(c.graph, no_workspace);
  verify_plan(plan);
  EXPECT_FALSE(overlap(place(plan, c.a), place(plan, c.all)));
  EXPECT_TRUE(overlap(place(plan, c.b), place(plan, c.all)));
}

TEST(Plan, TakesOverADyingOperandOnly) {
  Graph graph;
  const Value x = graph.add_value("x", floats(100), Storage::external);
  const Value a = add_fake_one(graph, {}, {x}, "a");
  const Value b = add_fake_one(graph, {.in_place = 1}, {a}, "b");     // a is read again
  const Value c = add_fake_one(graph, {.in_place = 2}, {a, b}, "c");  // b dies, so does a
  const Value d = add_fake_one(graph, {.in_place = 2}, {c, c}, "d");  // twice the same
  const Value e = add_fake_one(graph, {.elements = 50, .in_place = 1}, {d}, "e");  // smaller
  const Plan plan = make_plan(graph, fake_workspace);
  verify_plan(plan);
  EXPECT_NE(place(plan, b).root, place(plan, a).root);
  EXPECT_EQ(place(plan, c).root, place(plan, b).root);
  EXPECT_EQ(place(plan, c).offset, place(plan, b).offset);
  EXPECT_NE(place(plan, d).root, place(plan, c).root);
  EXPECT_NE(place(plan, e).root, place(plan, d).root);

  const Plan apart = make_plan(graph, fake_workspace, {.in_place = false});
  verify_plan(apart);
  for (Value v : {a, b, c, d, e}) EXPECT_EQ(place(apart, v).root, v.id);
}

TEST(Plan, KeepsWorkspaceFromOperands) {
  Graph graph;
  const Value x = graph.add_value("x", floats(10), Storage::external);
  Value a = add_fake_one(graph, {}, {x}, "a");
  for (int i = 0; i < 5; ++i) {
    a = add_fake_one(graph, {.in_place = i % 2, .workspace = 10 + 100 * i}, {a}, "b");
  }
  for (const PlanOptions& options : {PlanOptions{}, PlanOptions{.reuse = false}}) {
    const Plan plan = make_plan(graph, fake_workspace, options);
    verify_plan(plan);
    for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
      const Node& node = graph.nodes()[n];
      const Workspace& w = plan.workspaces[n];
      EXPECT_EQ(w.bytes, fake_workspace(node));
      EXPECT_LE(w.offset + w.bytes, plan.bytes[kArena]);
      for (const auto& operands : {node.inputs, node.outputs}) {
        for (Value v : operands) {
          const Placement& p = place(plan, v);
          EXPECT_FALSE(p.storage == Storage::arena && w.bytes > 0 &&
                       overlap(p.offset, p.bytes, w.offset, w.bytes));
        }
      }
    }
  }
}

TEST(Plan, GivesAResultTheRoomThatItsKernelWants) {
  Graph graph;
  const Value x = graph.add_value("x", floats(10), Storage::external);
  const Value a = add_fake_one(graph, {}, {x}, "a");
  const Value b = add_fake_one(graph, {.in_place = 1}, {a}, "b");
  const Value c = add_fake_one(graph, {.in_place = 1}, {b}, "c");
  add_fake_one(graph, {}, {c, b}, "d");
  const PlanOptions options{.room = {0, 0, 400}};
  const Plan plan = make_plan(graph, fake_workspace, options);
  verify_plan(plan);
  EXPECT_EQ(place(plan, b).bytes, 400U);
  EXPECT_EQ(place(plan, c).bytes, floats(10).bytes());
  EXPECT_NE(place(plan, b).root, place(plan, a).root) << "a has 40 bytes";
  EXPECT_FALSE(overlap(place(plan, b), place(plan, c)));
  EXPECT_EQ(make_plan(graph, fake_workspace).values[2].root, place(plan, a).root);
}

TEST(Plan, CountsTheBytesOfEveryStorage) {
  Graph graph;
  const Value x = graph.add_value("x", floats(16), Storage::external);
  const Value w = graph.add_value("w", floats(5), Storage::parameter, 64);
  const Value k = graph.add_constant(floats(20), 1);
  const Value k2 = graph.add_constant(floats(1), 2);
  const Value y = add_fake_one(graph, {}, {x, w, k, k2}, "y");
  add_fake_one(graph, {}, {y}, "z");
  const Plan plan = make_plan(graph, fake_workspace, {.in_place = false});
  EXPECT_EQ(plan.bytes[static_cast<std::size_t>(Storage::external)], 0U);
  EXPECT_EQ(plan.bytes[static_cast<std::size_t>(Storage::parameter)], 128U);
  EXPECT_EQ(plan.bytes[static_cast<std::size_t>(Storage::constant)], 192U);
  EXPECT_FALSE(overlap(place(plan, k), place(plan, k2)));
  EXPECT_EQ(plan.bytes[kArena], 128U);
  EXPECT_EQ(plan.total_bytes(), 448U);
}

/// A graph of fake operators with every feature, its last node reading all that nobody reads.
Graph random_graph(std::mt19937& random) {
  Graph graph;
  std::vector<Value> values{graph.add_value("x", floats(37), Storage::external, 0)};
  const std::size_t nodes = 3 + random() % 25;
  for (std::size_t n = 0; n < nodes; ++n) {
    std::vector<Value> inputs;
    const std::size_t count = 1 + random() % 3;
    for (std::size_t i = 0; i < count; ++i) {
      // Mostly recent values, so that others die.
      const std::size_t back = random() % std::min<std::size_t>(values.size(), 5);
      inputs.push_back(values[values.size() - 1 - back]);
    }
    testing::FakeAttrs attrs;
    if (random() % 4 == 0) {
      attrs.view = true;
      inputs.resize(1);
    } else {
      attrs.in_place = random() % (count + 1);
      attrs.outputs = random() % 4 == 0 ? 2 : 1;
      attrs.elements = random() % 3 == 0 ? 1 + random() % 300 : 0;
      attrs.workspace = random() % 3 == 0 ? 1 + random() % 200 : 0;
    }
    for (Value v : add_fake(graph, attrs, inputs, fmt::format("n{}", n))) values.push_back(v);
  }
  std::vector<Value> unread;
  for (Value v : values) {
    if (graph.uses(v) == 0) unread.push_back(v);
  }
  const Value last = add_fake_one(graph, {.elements = 400}, unread, "last");
  graph.info(last).storage = Storage::external;
  graph.info(last).offset = 1;
  graph.verify();
  return graph;
}

std::vector<float> result_of(cpu::CpuBackend& backend, const Graph& graph,
                             const PlanOptions& options) {
  std::vector<std::vector<float>> memory{std::vector<float>(37), std::vector<float>(400)};
  for (std::size_t i = 0; i < 37; ++i) memory[0][i] = static_cast<float>(i) * 0.25F;
  const auto program = testing::prepare_fake(backend, graph, options, memory);
  verify_plan(program->plan());
  program->run({}, 1, 0);
  return memory[1];
}

TEST(Plan, ComputesTheSameHoweverMemoryIsShared) {
  std::mt19937 random(99);
  cpu::CpuBackend backend = fake_backend(4);
  std::size_t shared = 0;
  std::size_t unshared = 0;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    const Graph graph = random_graph(random);
    const std::vector<float> expected =
        result_of(backend, graph, {.reuse = false, .in_place = false, .shared_stages = false});
    for (const float x : expected) ASSERT_TRUE(std::isfinite(x));
    EXPECT_EQ(result_of(backend, graph, {.reuse = false, .in_place = true}), expected);
    EXPECT_EQ(result_of(backend, graph, {.reuse = true, .in_place = false}), expected);
    EXPECT_EQ(result_of(backend, graph, {}), expected);
    const Plan plan = make_plan(graph, fake_workspace);
    EXPECT_LE(plan.bytes[kArena], plan.unshared_bytes);
    shared += plan.bytes[kArena];
    unshared += make_plan(graph, fake_workspace, {.reuse = false, .in_place = false}).bytes[kArena];
  }
  EXPECT_LT(shared, unshared / 2);
}

TEST(Plan, GivesEveryValueMemoryOfItsOwnIfAsked) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    const Graph graph = random_graph(random);
    const Plan plan = make_plan(graph, fake_workspace, {.reuse = false, .in_place = false});
    EXPECT_EQ(plan.bytes[kArena], plan.unshared_bytes);
    for (std::size_t a = 0; a < plan.values.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const Placement& first = plan.values[a];
        const Placement& second = plan.values[b];
        if (first.storage != Storage::arena || first.root == second.root) continue;
        EXPECT_FALSE(overlap(first, second)) << "%" << b << " and %" << a;
      }
    }
  }
}

TEST(Plan, IsPrintedWithEveryAddress) {
  Graph graph;
  const Value x = graph.add_value("x", {DType::f32, {8, 3}}, Storage::external);
  const Value w1 = graph.add_value("w1", {DType::f32, {5, 3}}, Storage::parameter, 0);
  const Value w2 = graph.add_value("w2", {DType::f32, {2, 5}}, Storage::parameter, 64);
  const Value h = graph.emit(DenseOp(), {x, w1}, "hidden");
  const Value r = graph.emit(ActivationOp(ActivationAttrs{Activation::relu}), {h}, "relu");
  graph.emit(DenseOp(), {r, w2}, "head");
  const Plan plan = make_plan(graph, [](const Node& node) {
    return node.name == "head" ? std::size_t{100} : std::size_t{0};
  });
  verify_plan(plan);
  EXPECT_EQ(dump(plan), R"(  0 dense 'hidden' bias=false activation=none
      in  %0 f32 (8, 3) external+0
      in  %1 f32 (5, 3) parameter+0
      out %3 f32 (8, 5) arena+0
      cost 240 FLOP, 316 bytes
  1 activation 'relu' kind=relu
      in  %3 f32 (8, 5) arena+0
      out %4 f32 (8, 5) arena+0 (=%3)
      cost 40 FLOP, 320 bytes
  2 dense 'head' bias=false activation=none
      in  %4 f32 (8, 5) arena+0 (=%3)
      in  %2 f32 (2, 5) parameter+64
      out %5 f32 (8, 2) arena+320
      cost 160 FLOP, 264 bytes
      workspace 100 bytes at 192
       arena 384 bytes
   parameter 128 bytes
       total 512 bytes (the arena would be 384 bytes if nothing were shared)
        cost 3 operators, 440 FLOP, 900 bytes read and written
)");
}

}  // namespace
}  // namespace linnet
