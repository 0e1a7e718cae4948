// SPDX-License-Identifier: Apache-2.0
#include "ops/optimizer_update/optimizer_update.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "op_harness.h"
#include "ops/optimizer_update/ranges_cuda.h"
#include "ops/optimizer_update/update_rule.h"

namespace linnet::testing {
namespace {

using Rule = UpdateRule;

/// Second moments are not negative.
void check_rule(const std::string& name, const OptimizerAttrs& attrs, std::int64_t length) {
  std::vector<ValueType> operands(2 + static_cast<std::size_t>(moments(attrs.settings.rule)),
                                  f32({length}));
  std::vector<Fill> fills(operands.size(), {0.01, 1});
  fills[0] = fills[1] = {-1, 1};
  if (attrs.settings.clip_norm > 0) {
    operands.push_back(f32({}));
    fills.push_back({2, 3});
  }
  check({name, make_op(OptimizerUpdateOp(attrs)), operands, fills, false});
}

void check_rule(const std::string& name, const UpdateSettings& settings, std::int64_t length) {
  check_rule(name, OptimizerAttrs{.settings = settings}, length);
}

TEST(OptimizerUpdate, AgreesWithTheReference) {
  for (std::int64_t length : {1, 19, 64, 100003}) {
    check_rule("sgd", {.rule = Rule::sgd}, length);
    check_rule("momentum", {.rule = Rule::momentum, .momentum = 0.9, .weight_decay = 1e-2}, length);
    check_rule("nesterov", {.rule = Rule::nesterov, .momentum = 0.9}, length);
    check_rule("adam", {.rule = Rule::adam, .clip_norm = 0.7}, length);
    check_rule("adam penalty", {.rule = Rule::adam, .weight_decay = 0.1}, length);
    check_rule("adamw", {.rule = Rule::adamw, .weight_decay = 0.1}, length);
    check_rule("rmsprop", {.rule = Rule::rmsprop}, length);
    check_rule("rmsprop momentum", {.rule = Rule::rmsprop_momentum, .momentum = 0.5}, length);
    check_rule("adagrad", {.rule = Rule::adagrad, .initial_sum = 0.1, .weight_decay = 0.1}, length);
    check_rule("lion", {.rule = Rule::lion, .beta2 = 0.99, .weight_decay = 0.1}, length);
    check_rule("muon", {.rule = Rule::muon, .momentum = 0.9, .alpha = 0.9, .weight_decay = 0.1},
               length);
    check_rule("clipped by value", {.rule = Rule::momentum, .momentum = 0.9, .clip_value = 0.3},
               length);
    check_rule("clipped twice", {.rule = Rule::sgd, .clip_norm = 1.5, .clip_value = 0.3}, length);
  }
  check_rule("cosine", {.decay = Decay::cosine, .total_steps = 9}, 64);
  check_rule("steps", {.decay = Decay::step, .every_steps = 2}, 64);
  check_rule("linear", {.decay = Decay::linear, .total_steps = 9}, 64);
  check_rule("polynomial", {.decay = Decay::polynomial, .total_steps = 9, .power = 1.5}, 64);
  check_rule("one cycle", {.decay = Decay::one_cycle, .total_steps = 9, .rise_steps = 1.7}, 64);
  UpdateSettings knots{.decay = Decay::piecewise};
  for (const double step : {0.5, 1.5, 2.5, 3.5, 1e6}) knots.knots.add(step, 0.3 + step * 1e-5);
  check_rule("piecewise", knots, 64);
  check_rule("adam, several elements a thread", {.rule = Rule::adam}, 700001);
}

TEST(OptimizerUpdate, CostsWhatItReadsAndWrites) {
  const auto arrays = [](Rule rule) {
    const std::vector<ValueType> operands(2 + static_cast<std::size_t>(moments(rule)), f32({100}));
    return OptimizerUpdateOp({.settings = {.rule = rule}}).cost(operands, {}).bytes / 400;
  };
  EXPECT_EQ(arrays(Rule::sgd), 3);
  EXPECT_EQ(arrays(Rule::momentum), 5);
  EXPECT_EQ(arrays(Rule::adam), 7);
}

/// A last operand that is not 0 leaves weights and moments as they are.
TEST(OptimizerUpdate, StopsWhereItIsTold) {
  for (bool clips : {false, true}) {
    for (double stopped : {0.0, 5.0}) {
      Graph graph;
      std::vector<Value> inputs;
      std::vector<std::vector<double>> data{{1, 2}, {0.5, -0.5}, {0.25, 0.25}};
      for (std::size_t i = 0; i < 3; ++i) {
        inputs.push_back(graph.add_value("array", f32({2}), Storage::external, i));
      }
      if (clips) {
        inputs.push_back(graph.add_value("norm", f32({}), Storage::external, 3));
        data.push_back({0.7});
      }
      inputs.push_back(graph.add_value("stopped", {DType::f64, Shape{}}, Storage::external, 4));
      data.push_back({stopped});
      OptimizerAttrs attrs{.settings = {.rule = Rule::momentum, .momentum = 0.9}};
      attrs.settings.clip_norm = clips ? 1 : 0;
      attrs.guarded = true;
      graph.add(make_op(OptimizerUpdateOp(attrs)), inputs, "update");
      const std::vector<Value> outputs{inputs[OptimizerUpdateOp::In::parameters],
                                       inputs[OptimizerUpdateOp::In::first_moment]};
      compare_with_reference(graph, inputs, data, outputs);
      const auto after = run(graph, inputs, data, outputs);
      EXPECT_EQ(after[0] == data[0], stopped != 0);
      EXPECT_EQ(after[1] == data[2], stopped != 0);
    }
  }
}

/// Gradients of a loss times a power of two give the same bits, and steps that were left out do not
/// count for bias corrections.
TEST(OptimizerUpdate, DividesGradientsByTheLosssScale) {
  const std::vector<UpdateSettings> rules{{.rule = Rule::sgd, .clip_norm = 0.5},
                                          {.rule = Rule::nesterov, .momentum = 0.9},
                                          {.rule = Rule::adam, .clip_norm = 10},
                                          {.rule = Rule::adamw, .weight_decay = 0.1},
                                          {.rule = Rule::lion, .clip_value = 0.2}};
  for (const UpdateSettings& settings : rules) {
    const auto after = [&](double scale, double skipped, std::uint64_t update) {
      Graph graph;
      std::vector<Value> inputs;
      std::vector<std::vector<double>> data;
      const auto add = [&](const ValueType& type, std::vector<double> values) {
        inputs.push_back(graph.add_value("operand", type, Storage::external, inputs.size()));
        data.push_back(std::move(values));
      };
      add(f32({5}), {1, 2, 3, 4, 5});
      add(f32({5}), {0.7 * scale, -0.3 * scale, 0.011 * scale, 0, -2 * scale});
      for (int m = 0; m < moments(settings.rule); ++m) add(f32({5}), {0.1, 0.2, 0.3, 0.4, 0.5});
      if (settings.clip_norm > 0) add(f32({}), {2.14 * scale});
      if (scale != 1) add(f32({kLossScaleSize}), {scale, 17, skipped});
      add({DType::f64, Shape{}}, {0});
      graph.add(make_op(OptimizerUpdateOp({.settings = settings, .guarded = true})), inputs,
                "update");
      const std::vector<Value> changed(inputs.begin(), inputs.begin() + 1);
      const StepInfo step{.step = 20, .update = update};
      compare_with_reference(graph, inputs, data, changed, 1e-5, step);
      return run(graph, inputs, data, changed, step)[0];
    };
    EXPECT_EQ(after(1024, 4, 9), after(1, 0, 5)) << static_cast<int>(settings.rule);
  }
}

/// `count` ranges of 4 to 12 elements with gaps of 0 to 8 between, the last at the end.
OptimizerAttrs in_ranges(const UpdateSettings& settings, int count) {
  OptimizerAttrs attrs{.settings = settings};
  std::int64_t length = 8;
  for (int r = 0; r < count; ++r) {
    const std::int64_t size = 4 * (1 + r % 3);
    attrs.bounds.insert(attrs.bounds.end(), {length, length + size});
    attrs.rate_factors.push_back(1.0 / (1 + r % 5));
    attrs.weight_decays.push_back(0.01 * (r % 4));
    length += size + 4 * (r % 3);
  }
  attrs.bounds.back() += 3;  // which is not a whole unit
  return attrs;
}

TEST(OptimizerUpdate, RangesTrainOnTheirOwnAndTheRestStays) {
  for (int count : {1, 2, 3, 64, 65, 200}) {
    const std::int64_t length = in_ranges({}, count).bounds.back();
    for (const UpdateSettings& settings :
         {UpdateSettings{.rule = Rule::adamw}, UpdateSettings{.rule = Rule::sgd, .clip_norm = 0.5},
          UpdateSettings{.rule = Rule::lion}}) {
      check_rule("ranges", in_ranges(settings, count), length);
    }
    const GlobalNormAttrs norm{in_ranges({}, count).bounds};
    check({"norm of ranges", make_op(GlobalNormOp(norm)), {f32({length})}, {{-3, 3}}, false});
  }
  const OptimizerAttrs large{.settings = {.rule = Rule::adam},
                             .bounds = {400, 120000, 200000, 200004, 300000, 700001},
                             .rate_factors = {1, 0.1, 10},
                             .weight_decays = {0, 0.1, 0}};
  check_rule("large ranges", large, 700001);
  check({"norm of large ranges",
         make_op(GlobalNormOp({large.bounds})),
         {f32({700001})},
         {{-3, 3}},
         false});
}

TEST(OptimizerUpdate, RangesThatTrainAlikeAreJoined) {
  OptimizerAttrs attrs;
  attrs.add({.begin = 0, .end = 16, .weight_decay = 0.1});
  attrs.add({.begin = 16, .end = 32, .weight_decay = 0.1});
  attrs.add({.begin = 48, .end = 64, .weight_decay = 0.1});
  attrs.add({.begin = 64, .end = 80});
  attrs.add({.begin = 80, .end = 96, .rate_factor = 0.5});
  EXPECT_TRUE(attrs.left_out.empty());
  EXPECT_EQ(attrs.bounds, (std::vector<std::int64_t>{0, 32, 48, 64, 64, 80, 80, 96}));
  EXPECT_EQ(ranges_of(attrs, 96)[3],
            (UpdateRange{.begin = 80, .end = 96, .rate_factor = 0.5, .weight_decay = 0}));
  EXPECT_EQ(ranges_of({.settings = {.weight_decay = 0.3}}, 7),
            (std::vector<UpdateRange>{{.begin = 0, .end = 7, .weight_decay = 0.3}}));
  attrs.add({.begin = 96, .end = 112, .rate_factor = 0.5, .left_out = 3});
  attrs.add({.begin = 112, .end = 128, .rate_factor = 0.5, .left_out = 3});
  attrs.add({.begin = 128, .end = 144, .rate_factor = 0.5});
  EXPECT_EQ(attrs.left_out, (std::vector<std::int64_t>{0, 0, 0, 0, 3, 0}));
  EXPECT_EQ(ranges_of(attrs, 144)[4],
            (UpdateRange{.begin = 96, .end = 128, .rate_factor = 0.5, .left_out = 3}));
}

TEST(OptimizerUpdate, BiasCorrectionsCountTheUpdatesOfARange) {
  const UpdateSettings settings{.rule = Rule::adamw, .learning_rate = 0.1};
  const UpdateFactors late = update_factors(settings, {.left_out = 5}, {.update = 7}, 0);
  const UpdateFactors early = update_factors(settings, {}, {.update = 2}, 0);
  EXPECT_EQ(late.rate, early.rate);
  EXPECT_EQ(late.second_scale, early.second_scale);
  const UpdateFactors first =
      update_factors(settings, {.left_out = 9}, {.update = 9}, 0, {.skipped = 1});
  EXPECT_EQ(first.rate, update_factors(settings, {}, {}, 0).rate);
  OptimizerAttrs attrs{.settings = settings};
  attrs.add({.begin = 0, .end = 64, .weight_decay = 0.1});
  attrs.add({.begin = 64, .end = 128, .left_out = 2});
  check_rule("left out", attrs, 128);
}

TEST(OptimizerUpdate, TablesOfRangesNameEachElementOnce) {
  for (std::int64_t count : {1, 64, 65, 130}) {
    std::vector<UpdateRange> ranges;
    std::vector<std::int64_t> wished;
    for (std::int64_t r = 0; r < count; ++r) {
      ranges.push_back({.begin = 12 * r + 4, .end = 12 * r + 12});
      for (std::int64_t i = ranges.back().begin; i < ranges.back().end; ++i) wished.push_back(i);
    }
    std::vector<std::int64_t> named;
    int tables = 0;
    int lasts = 0;
    cuda::for_tables(ranges, [&](const auto& table, bool last) {
      int range = 0;
      for (std::int64_t i = 0; i < table.items; ++i) named.push_back(table.element(i, range));
      EXPECT_EQ(range, table.count - 1);
      ++tables;
      lasts += last ? 1 : 0;
    });
    EXPECT_EQ(named, wished);
    EXPECT_EQ(tables, (count + 63) / 64);
    EXPECT_EQ(lasts, 1);
  }
}

TEST(OptimizerUpdate, RefusesRangesThatAreNone) {
  const auto error = [](std::vector<std::int64_t> bounds) {
    const std::size_t ranges = bounds.size() / 2;
    return inference_error(make_op(
                               OptimizerUpdateOp({.settings = {},
                                                  .bounds = std::move(bounds),
                                                  .rate_factors = {std::vector(ranges, 1.0)},
                                                  .weight_decays = {std::vector(ranges, 0.0)}})),
                           {f32({30}), f32({30})}, "optimizer");
  };
  EXPECT_EQ(error({0, 4, 8, 30}), "");
  for (const std::vector<std::int64_t>& bounds :
       {std::vector<std::int64_t>{0, 32}, {2, 8}, {0, 6}, {8, 8}, {8, 12, 4, 8}}) {
    EXPECT_NE(error(bounds).find("expected ranges in order, of whole units of 4 elements, within "
                                 "30; got ["),
              std::string::npos)
        << error(bounds);
  }
}

TEST(OptimizerUpdate, GlobalNorm) {
  check({"norm", make_op(GlobalNormOp()), {f32({100003})}, {{-3, 3}}, false});
  check({"norm of few", make_op(GlobalNormOp()), {f32({1003})}, {{-3, 3}}, false});
  check({"norm of nothing", make_op(GlobalNormOp()), {f32({0})}, {}, false});
}

UpdateFactors factors(const UpdateSettings& settings, const StepInfo& step, double norm) {
  return update_factors(settings, {.weight_decay = settings.weight_decay}, step, norm);
}

/// Numbers worked out by hand: reference and kernel share these factors.
TEST(OptimizerUpdate, FactorsAreTheirFormulas) {
  UpdateSettings settings{.rule = Rule::adam,
                          .learning_rate = 0.1,
                          .beta1 = 0.9,
                          .beta2 = 0.99,
                          .alpha = 0.8,
                          .weight_decay = 0.2,
                          .clip_norm = 2};
  const UpdateFactors adam = factors(settings, {.update = 1}, 4);
  EXPECT_FLOAT_EQ(adam.rate, 0.1F / 0.19F);
  EXPECT_FLOAT_EQ(adam.first_keep, 0.9F);
  EXPECT_FLOAT_EQ(adam.first_add, 0.1F);
  EXPECT_FLOAT_EQ(adam.second_keep, 0.99F);
  EXPECT_FLOAT_EQ(adam.second_add, 0.01F);
  EXPECT_FLOAT_EQ(adam.second_scale, 7.0888121F);  // 1 / sqrt(1 - 0.9801)
  EXPECT_FLOAT_EQ(adam.penalty, 0.2F);
  EXPECT_EQ(adam.decay, 1);
  EXPECT_FLOAT_EQ(adam.clip, 0.5F);
  EXPECT_TRUE(std::isinf(adam.clip_value));
  EXPECT_EQ(factors(settings, {.update = 1}, 1).clip, 1);
  const UpdateFactors other =
      update_factors(settings, {.rate_factor = 0.5, .weight_decay = 0.4}, {.update = 1}, 4);
  EXPECT_FLOAT_EQ(other.rate, 0.05F / 0.19F);
  EXPECT_FLOAT_EQ(other.penalty, 0.4F);
  settings.rule = Rule::adamw;
  EXPECT_EQ(factors(settings, {.update = 1}, 1).penalty, 0);
  EXPECT_FLOAT_EQ(factors(settings, {.update = 1}, 1).decay, 0.98F);
  settings.rule = Rule::lion;
  const UpdateFactors lion = factors(settings, {.update = 1}, 1);
  EXPECT_FLOAT_EQ(lion.rate, 0.1F);
  EXPECT_FLOAT_EQ(lion.decay, 0.98F);
  EXPECT_EQ(lion.penalty, 0);
  EXPECT_FLOAT_EQ(lion.first_add, 0.1F);
  EXPECT_FLOAT_EQ(lion.second_add, 0.01F);
  settings.rule = Rule::muon;
  settings.momentum = 0.7;
  const UpdateFactors muon = factors(settings, {.update = 1}, 1);
  EXPECT_FLOAT_EQ(muon.decay, 0.98F);
  EXPECT_EQ(muon.penalty, 0);
  EXPECT_FLOAT_EQ(muon.first_keep, 0.7F);
  EXPECT_FLOAT_EQ(muon.first_add, 0.3F);
  EXPECT_FLOAT_EQ(muon.second_keep, 0.8F);
  EXPECT_FLOAT_EQ(muon.second_add, 0.2F);
  settings.rule = Rule::rmsprop;
  const UpdateFactors rmsprop = factors(settings, {.update = 1}, 1);
  EXPECT_FLOAT_EQ(rmsprop.rate, 0.1F);
  EXPECT_FLOAT_EQ(rmsprop.second_keep, 0.8F);
  EXPECT_FLOAT_EQ(rmsprop.second_add, 0.2F);
  EXPECT_FLOAT_EQ(rmsprop.penalty, 0.2F);
  EXPECT_EQ(rmsprop.second_scale, 1);
  settings = {.rule = Rule::momentum, .learning_rate = 0.1, .momentum = 0.7, .clip_value = 0.25};
  const UpdateFactors sgd = factors(settings, {.update = 1}, 100);
  EXPECT_FLOAT_EQ(sgd.rate, 0.1F);
  EXPECT_FLOAT_EQ(sgd.first_keep, 0.7F);
  EXPECT_EQ(sgd.penalty, 0);
  EXPECT_EQ(sgd.clip, 1);
  EXPECT_EQ(sgd.clip_value, 0.25F);
  EXPECT_FLOAT_EQ(factors(settings, {.update = 1, .rate_factor = 0.5}, 100).rate, 0.05F);
}

/// A gradient that is NaN ruins the parameter, whatever the rule: it must not pass for a good one.
/// Muon's ruins the direction, of which the matrix's step is made.
TEST(OptimizerUpdate, NotANumberStaysOne) {
  using In = OptimizerUpdateOp::In;
  for (int rule = 0; rule < static_cast<int>(enum_names(Rule{}).size()); ++rule) {
    const UpdateSettings settings{.rule = static_cast<Rule>(rule), .clip_value = 1};
    Graph graph;
    std::vector<Value> operands;
    std::vector<std::vector<double>> data;
    for (int i = 0; i < 2 + moments(settings.rule); ++i) {
      operands.push_back(graph.add_value("x", f32({9}), Storage::external, operands.size()));
      data.emplace_back(9, 0.5);
    }
    data[1][3] = data[1][8] = std::nan("");
    graph.add(make_op(OptimizerUpdateOp({.settings = settings})), operands, "optimizer");
    const Value ruined = operands[settings.rule == Rule::muon ? In::second_moment : In::parameters];
    const std::vector<double> after = run(graph, operands, data, {ruined})[0];
    for (std::size_t i = 0; i < 9; ++i) {
      EXPECT_EQ(std::isnan(after[i]), i == 3 || i == 8) << enum_names(Rule{})[rule] << ' ' << i;
    }
  }
}

/// What kernels compute instead of the library's powers.
TEST(OptimizerUpdate, SquaringGivesTheLibrarysPowers) {
  const UpdateSettings settings{.rule = Rule::adam,
                                .learning_rate = 0.1,
                                .beta2 = 0.9999,
                                .decay = Decay::step,
                                .every_steps = 7,
                                .gamma = 0.99};
  for (std::uint64_t step : {0ULL, 1ULL, 2ULL, 6ULL, 7ULL, 99ULL, 4095ULL, 100000ULL, 1ULL << 50}) {
    const double n = static_cast<double>(step);
    const double expected = LibraryPower()(settings.beta2, n);
    EXPECT_NEAR(SquaringPower()(settings.beta2, n), expected, (n + 1) * 2e-16 * expected);
    const UpdateFactors host = factors(settings, {.update = step}, 0);
    const UpdateFactors kernel =
        update_factors(settings, {}, {.update = step}, 0, {}, SquaringPower());
    EXPECT_FLOAT_EQ(kernel.rate, host.rate);
    EXPECT_FLOAT_EQ(kernel.second_scale, host.second_scale);
  }
}

TEST(OptimizerUpdate, SchedulesAreTheirFormulas) {
  UpdateSettings s{.learning_rate = 0.8,
                   .warmup_steps = 4,
                   .every_steps = 10,
                   .total_steps = 24,
                   .gamma = 0.5,
                   .power = 2,
                   .floor = 0.1};
  EXPECT_DOUBLE_EQ(learning_rate_at(s, 0), 0.2);
  EXPECT_DOUBLE_EQ(learning_rate_at(s, 3), 0.8);
  EXPECT_DOUBLE_EQ(learning_rate_at(s, 1000), 0.8);
  s.decay = Decay::step;
  EXPECT_DOUBLE_EQ(learning_rate_at(s, 9), 0.8);
  EXPECT_DOUBLE_EQ(learning_rate_at(s, 10), 0.4);
  EXPECT_DOUBLE_EQ(learning_rate_at(s, 29), 0.2);
  s.decay = Decay::cosine;
  EXPECT_DOUBLE_EQ(learning_rate_at(s, 14), 0.8 * (0.1 + 0.9 * 0.5));
  s.decay = Decay::linear;
  EXPECT_DOUBLE_EQ(learning_rate_at(s, 9), 0.8 * (1 - 0.9 * 0.25));
  s.decay = Decay::polynomial;
  EXPECT_DOUBLE_EQ(learning_rate_at(s, 9), 0.8 * (0.1 + 0.9 * 0.75 * 0.75));
  for (Decay decay : {Decay::cosine, Decay::linear, Decay::polynomial}) {
    s.decay = decay;
    EXPECT_DOUBLE_EQ(learning_rate_at(s, 0), 0.2);
    EXPECT_DOUBLE_EQ(learning_rate_at(s, 4), 0.8);
    EXPECT_NEAR(learning_rate_at(s, 24), 0.08, 1e-12);
    EXPECT_NEAR(learning_rate_at(s, 1000), 0.08, 1e-12);
  }
}

TEST(OptimizerUpdate, KnotsAreInterpolated) {
  UpdateSettings s{.learning_rate = 0.5, .decay = Decay::piecewise};
  for (const auto& [step, factor] : {std::pair{2.0, 0.2}, {4.0, 1.0}, {6.5, 0.5}}) {
    s.knots.add(step, factor);
  }
  const auto factor = [&](std::uint64_t step) { return learning_rate_at(s, step) / 0.5; };
  EXPECT_DOUBLE_EQ(factor(0), 0.2);
  EXPECT_DOUBLE_EQ(factor(2), 0.2);
  EXPECT_DOUBLE_EQ(factor(3), 0.6);
  EXPECT_DOUBLE_EQ(factor(4), 1);
  EXPECT_DOUBLE_EQ(factor(6), 1 - 0.5 * 2 / 2.5);
  EXPECT_DOUBLE_EQ(factor(7), 0.5);
  EXPECT_DOUBLE_EQ(factor(1000), 0.5);
  s.warmup_steps = 3;
  EXPECT_DOUBLE_EQ(factor(0), 0.2);
  EXPECT_DOUBLE_EQ(factor(2), 0.6);
  EXPECT_DOUBLE_EQ(factor(4), 1);
  EXPECT_EQ(Knots::of(s.knots.flat()), s.knots);
  EXPECT_THROW(Knots::of({1, 2, 3}), Error);
  EXPECT_THROW(Knots::of(std::vector<double>(66, 0)), Error);
}

/// A warm-up leads up to the cycle's first factor; the cycle itself is as it would be alone.
TEST(OptimizerUpdate, ACycleMayFollowAWarmup) {
  UpdateSettings alone{.learning_rate = 1,
                       .decay = Decay::one_cycle,
                       .total_steps = 11,
                       .rise_steps = 3.5,
                       .start = 0.2,
                       .floor = 0.1};
  UpdateSettings after = alone;
  after.warmup_steps = 4;
  after.total_steps += 4;
  EXPECT_DOUBLE_EQ(learning_rate_at(after, 0), 0.05);
  EXPECT_DOUBLE_EQ(learning_rate_at(after, 3), 0.2);
  for (std::uint64_t s = 0; s < 20; ++s) {
    EXPECT_DOUBLE_EQ(learning_rate_at(after, s + 4), learning_rate_at(alone, s));
  }
}

/// The corners of a cycle, where PyTorch's formula divides by nothing.
TEST(OptimizerUpdate, ACycleMayRiseOrFallAlone) {
  UpdateSettings s{.learning_rate = 1,
                   .decay = Decay::one_cycle,
                   .total_steps = 11,
                   .rise_steps = 5,
                   .start = 0.2,
                   .floor = 0.1};
  const auto rate = [&](std::uint64_t step) { return learning_rate_at(s, step); };
  EXPECT_DOUBLE_EQ(rate(0), 0.2);
  EXPECT_DOUBLE_EQ(rate(5), 1);
  EXPECT_DOUBLE_EQ(rate(10), 0.1);
  EXPECT_DOUBLE_EQ(rate(1000), 0.1);
  s.rise_steps = 10;  // to the last step
  EXPECT_DOUBLE_EQ(rate(10), 1);
  EXPECT_DOUBLE_EQ(rate(11), 0.1);
  s.rise_steps = 0;
  EXPECT_DOUBLE_EQ(rate(0), 1);
  s.rise_steps = -1;
  EXPECT_NEAR(rate(0), 0.1 + 0.9 * 0.5 * (1 + std::cos(std::numbers::pi / 11)), 1e-12);
}

}  // namespace
}  // namespace linnet::testing
