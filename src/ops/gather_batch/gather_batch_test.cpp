// SPDX-License-Identifier: Apache-2.0
#include "ops/gather_batch/gather_batch.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "op_harness.h"
#include "ops/gather_batch/record_index.h"

namespace linnet::testing {
namespace {

void check_gather(DType dtype, const Shape& record, std::int64_t records, std::int64_t batch,
                  const StepInfo& step, bool shuffle) {
  Graph graph;
  const Value data = graph.add_value("data", {dtype, record.batched(1)}, Storage::external);
  std::vector<double> elements(static_cast<std::size_t>(record.elements() * records));
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<double>(i % 251);
  const bool labels = dtype == DType::i32;
  const Value out = graph.emit(GatherBatchOp({.batch = batch,
                                              .shuffle = shuffle,
                                              .scale = labels ? 1 : 1.0 / 255,
                                              .shift = labels ? 0 : -0.5}),
                               {data}, "gather");
  compare_with_reference(graph, {data}, {elements}, {out}, 1e-6, step);
}

TEST(GatherBatch, AgreesWithTheReference) {
  const StepInfo whole{.seed = 5, .epoch = 2, .position = 3, .samples = 20};
  for (bool shuffle : {false, true}) {
    check_gather(DType::u8, {3, 5, 2}, 20, 7, whole, shuffle);
    check_gather(DType::f32, {11}, 20, 17, whole, shuffle);
    check_gather(DType::f32, {12}, 20, 17, whole, shuffle);
    check_gather(DType::i32, {}, 20, 7, whole, shuffle);
    check_gather(DType::i32, {8}, 20, 7, whole, shuffle);
    check_gather(DType::u8, {3, 40, 40}, 20, 3, whole, shuffle);
    check_gather(DType::u8, {4}, 20, 5, whole, shuffle);
    check_gather(DType::u8, {28, 28, 1}, 20, 0, whole, shuffle);
    const StepInfo large{.seed = 5, .epoch = 2, .samples = 2000};
    check_gather(DType::u8, {11, 13}, 2000, 1500, large, shuffle);
    check_gather(DType::u8, {20}, 2000, 1500, large, shuffle);
  }
}

/// Floats that are only rounded have a loop of their own.
TEST(GatherBatch, RecordsMayBeStoredInBf16) {
  for (const double scale : {1.0, 0.5}) {
    check({.name = "gather_batch",
           .op = make_op(GatherBatchOp({.batch = 17, .shuffle = true, .scale = scale})),
           .inputs = {f32({1, 43})},
           .gradient = false,
           .step = {.seed = 5, .epoch = 2, .position = 3, .samples = 20},
           .records = {20}});
  }
}

TEST(GatherBatch, AnEpochVisitsEverySampleOnce) {
  StepInfo step{.seed = 9, .epoch = 4, .samples = 80};
  std::set<std::uint64_t> seen;
  for (step.position = 0; step.position < 80; step.position += 16) {
    const RecordIndex index(step, true);
    for (std::int64_t i = 0; i < 16; ++i) seen.insert(index(i));
  }
  EXPECT_EQ(seen.size(), 80U);
}

TEST(GatherBatch, EpochsAndSeedsHaveTheirOwnOrder) {
  const auto order = [](std::uint64_t seed, std::uint64_t epoch) {
    const RecordIndex index({.seed = seed, .epoch = epoch, .samples = 50}, true);
    std::vector<std::uint64_t> out;
    for (std::int64_t i = 0; i < 50; ++i) out.push_back(index(i));
    return out;
  };
  EXPECT_EQ(order(1, 1), order(1, 1));
  EXPECT_NE(order(1, 1), order(1, 2));
  EXPECT_NE(order(1, 1), order(2, 1));
}

TEST(GatherBatch, WithoutShufflingItReadsInOrder) {
  const RecordIndex index({.epoch = 3, .position = 4, .samples = 20}, false);
  for (std::int64_t i = 0; i < 8; ++i) EXPECT_EQ(index(i), static_cast<std::uint64_t>(4 + i));
}

TEST(GatherBatch, NamesTheLayerAndTheShape) {
  EXPECT_EQ(inference_error(make_op(GatherBatchOp({.batch = 4})), {f32({2, 3})}, "samples"),
            "[gather_batch 'samples'] expected records as (1, ...); got data=(2, 3)");
}

}  // namespace
}  // namespace linnet::testing
