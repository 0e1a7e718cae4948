// SPDX-License-Identifier: Apache-2.0
// Ids that no row of an embedding has, in predictions.
#include <gtest/gtest.h>

#include "../message_of.h"
#include "data_sets.h"
#include "fixtures.h"

namespace linnet::testing {
namespace {

using Labels = std::vector<std::int32_t>;

TEST(Prediction, RefusesIdsOutsideTheEmbedding) {
  Model model(Network({3},
                      {Embedding{.vocabulary = 5, .features = 2, .name = "words"}, Flatten{},
                       Dense{.units = 2}},
                      DType::i32),
              {.device = "cpu", .threads = 1});
  for (const std::int32_t id : {5, -1}) {
    const Tensor ids = records(Labels{0, 1, 2, 3, id, 4}, {3});
    const std::string wanted = fmt::format(
        "row 1, column 1 of the input 'input' (counted from 0) has the id {}; the embedding "
        "'words' expects 0 to 4",
        id);
    EXPECT_EQ(message_of([&] { model.predict(ids); }), wanted);
    EXPECT_EQ(message_of([&] { model.predict(ids, 1); }), wanted) << "rows count over batches";
    EXPECT_EQ(message_of([&] { model.predict_probabilities(ids); }), wanted);
    EXPECT_EQ(message_of([&] {
                model.value_of("words", Dataset({{"input", ids}}, {}), 1);
              }),
              wanted);
    Predictor predictor(model);
    EXPECT_EQ(message_of([&] { predictor.predict(ids); }), wanted);
    EXPECT_EQ(message_of([&] {
                predictor.predict(State(std::vector<State::Entry>{{"input", ids}}));
              }),
              wanted);
    predictor.set_input(ids);
    EXPECT_EQ(message_of([&] { predictor.run(2, DType::i32); }), wanted);
  }
  EXPECT_EQ(model.predict(records(Labels{0, 4, 2}, {3})).shape(), Shape({1, 2}));
}

TEST(Prediction, TakesAnyIdsInPadding) {
  FunctionalNetwork functional;
  const Expression words = functional.input("x", {3}, DType::i32, true);
  const Expression y = words | Embedding{.vocabulary = 5, .features = 2} | GlobalAvgPool1d{};
  Model model(functional.build({{"y", y}}), {.device = "cpu", .threads = 1});
  const auto predict = [&](std::int32_t first, std::int32_t padding) {
    Predictor predictor(model);
    return message_of([&] {
      predictor.predict(
          State(std::vector<State::Entry>{{"x", records(Labels{0, 1, 2, first, 1, padding}, {3})},
                                          {"x.lengths", records(Labels{3, 2}, {1})}}));
    });
  };
  EXPECT_EQ(predict(0, 9), "");
  EXPECT_EQ(predict(9, 0),
            "row 1, column 0 of the input 'x' (counted from 0) has the id 9; the "
            "embedding 'embedding_1' expects 0 to 4");
}

}  // namespace
}  // namespace linnet::testing
