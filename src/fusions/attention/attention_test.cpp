// SPDX-License-Identifier: Apache-2.0
#include "fusions/attention/attention.h"

#include <gtest/gtest.h>

#include <array>

#include "op_harness.h"

namespace linnet::testing {
namespace {

void check_attention(AttentionAttrs attrs, std::vector<ValueType> inputs, bool gradient = true) {
  check({.name = "attention",
         .op = make_op(AttentionOp(attrs)),
         .inputs = std::move(inputs),
         .gradient = gradient,
         .roots = {true, false},
         .devices = {"CPU"}});
}

// Its gradient, too.
TEST(Attention, AgreesWithTheReference) {
  // One row, rests of vectors and of blocks of keys, blocks of queries, rows as long as the cache.
  for (const auto& [queries, keys, size, width] :
       std::vector<std::array<std::int64_t, 4>>{{1, 1, 1, 1},
                                                {5, 7, 3, 2},
                                                {64, 64, 32, 32},
                                                {65, 65, 16, 48},
                                                {110, 70, 5, 3},
                                                {20, 130, 5, 7},
                                                {40, 1500, 8, 17}}) {
    for (const bool causal : {false, true}) {
      check_attention({.scale = 0.7, .causal = causal},
                      {f32({3, 2, queries, size}), f32({3, 2, keys, size}),
                       f32({3, 2, keys, width})},
                      queries * keys < 8000);  // finite differences of more take seconds
    }
  }
  check_attention({.scale = 0.7, .causal = true, .dropout = 0.4, .stream = 3},
                  {f32({3, 2, 70, 3}), f32({3, 2, 70, 3}), f32({3, 2, 70, 2})});
  check_attention({.dropout = 0.25, .stream = 1},
                  {f32({2, 5, 4}), f32({2, 130, 4}), f32({2, 130, 3})});
  check_attention({}, {f32({4, 6, 5}), f32({4, 9, 5}), f32({4, 9, 3})});
  check_attention({}, {f32({0, 6, 5}), f32({0, 9, 5}), f32({0, 9, 3})});
}

TEST(Attention, ReadsOperandsThatLieTogether) {
  for (const auto& [n, steps, heads, size] : std::vector<std::array<std::int64_t, 4>>{
           {1, 64, 4, 32}, {3, 9, 2, 5}, {20, 33, 1, 16}, {1, 200, 3, 8}, {0, 4, 2, 3}}) {
    for (const bool causal : {false, true}) {
      check_attention({.scale = 0.5, .causal = causal, .together = true},
                      {f32({n, steps, 3, heads, size})});
    }
  }
}

// More queries and keys than are taken at once.
TEST(Attention, GradientsOfManyStepsAgreeWithTheReference) {
  for (const bool causal : {false, true}) {
    check({.name = "attention_grad",
           .op = make_op(AttentionGradOp(
               {.scale = 0.5, .causal = causal, .together = true, .dropout = causal ? 0.3 : 0.0})),
           .inputs = {f32({1, 850, 1, 3}), f32({1, 850, 1, 3}), f32({1, 1, 850}),
                      f32({1, 850, 3, 1, 3})},
           .fills = {{}, {}, {.low = 5, .high = 7}, {}},
           .gradient = false,
           .devices = {"CPU"}});
  }
}

TEST(Attention, NamesTheShapes) {
  EXPECT_NE(inference_error(make_op(AttentionOp()),
                            {f32({2, 4, 3}), f32({2, 5, 4}), f32({2, 5, 3})})
                .find("expected queries (N, ..., T, size), keys (N, ..., keys, size)"),
            std::string::npos);
  EXPECT_NE(inference_error(make_op(AttentionOp({.together = true})), {f32({2, 4, 2, 3, 4})})
                .find("expected one operand (N, T, 3, heads, size)"),
            std::string::npos);
}

}  // namespace
}  // namespace linnet::testing
