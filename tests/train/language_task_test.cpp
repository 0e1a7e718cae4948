// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/generator.h>
#include <linnet/language_task.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/files.h"
#include "message_of.h"
#include "temporary_folder.h"

namespace linnet::test {
namespace {

using linnet::testing::message_of;
using linnet::testing::TemporaryFolder;

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string sentences(int times) { return repeated("the cat sat on the mat.\n", times); }

constexpr LanguageTaskOptions kSmall{
    .context = 16, .layers = 1, .width = 16, .heads = 2, .dropout = 0};

LanguageTask task_of(const std::string& text, const LanguageTaskOptions& options = kSmall) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "corpus.txt", text);
  return language_task(folder / "corpus.txt", options);
}

/// A model of a text about a cat, in which "the c" has one continuation.
Model trained_model() {
  LanguageTaskOptions options = kSmall;
  options.stride = 7;  // a line break comes first in some window
  const LanguageTask task = task_of(sentences(40), options);
  Model model(task.network, {.device = "cpu", .threads = 1});
  TrainingOptions training = task.training;
  training.epochs = 60;
  training.batch = 8;
  training.optimizer = AdamW{.learning_rate = 1e-2};
  train(model, task.data, training);
  return model;
}

TEST(LanguageTask, CutsATextIntoWindows) {
  const LanguageTask task = task_of(sentences(40));  // 960 characters: 672 train, 96, 192
  EXPECT_EQ(task.data.train.size(), (672 - 17) / 8 + 1);
  EXPECT_EQ(task.data.validation.size(), 5);
  EXPECT_EQ(task.data.test.size(), 11);
  EXPECT_EQ(task.data.train.classes(), (std::vector<std::string>{"\n", " ", ".", "a", "c", "e", "h",
                                                                 "m", "n", "o", "s", "t"}));
  const auto text = task.data.train.inputs()[0].data.as<std::int32_t>();
  const auto next = task.data.train.targets()[0].data.as<std::int32_t>();
  for (std::size_t i = 0; i + 1 < 16; ++i) EXPECT_EQ(text[i + 1], next[i]);
  EXPECT_EQ(text[16], text[8]);  // the second window begins half a context later
  EXPECT_EQ(task.network.output_shape(), (Shape{16, 12}));
}

TEST(LanguageTask, ReadsAllTextsOfAFolder) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "b.txt",
                        "\xEF\xBB\xBF"
                        "bb\r\n");
  write_file_atomically(folder / "a.txt", sentences(20));
  write_file_atomically(folder / "notes.md", "zzz");
  const LanguageTask task =
      language_task(folder.path(), {.context = 16, .validation = 0, .test = 0});
  EXPECT_EQ(task.data.train.info().classes.size(), 13U);  // "b" too, no "z" and no "\r"
  EXPECT_EQ(task.data.test.size(), 0);
}

TEST(LanguageTask, LeavesUnknownCharactersOutOfTheTestSet) {
  const LanguageTask task = task_of(sentences(38) + repeated("caté\n", 10));
  EXPECT_EQ(task.notes.front(),
            "10 characters of the test text are left out: the model does not know them, "
            "such as 'é'");
}

TEST(LanguageTask, SaysWhatIsWrongWithAText) {
  const auto error = [](const std::string& text, const LanguageTaskOptions& options = kSmall) {
    return message_of([&] { task_of(text, options); });
  };
  EXPECT_NE(error("").find("at least 2 different characters"), std::string::npos) << error("");
  EXPECT_NE(error(std::string(500, 'a')).find("at least 2 different characters"),
            std::string::npos);
  EXPECT_NE(error("a short text")
                .find("'corpus.txt' is too short: a window of the context and "
                      "the next character has 17 characters"),
            std::string::npos)
      << error("a short text");
  EXPECT_NE(error(sentences(9) + '\0').find("is not a text"), std::string::npos);
  EXPECT_NE(error("\xFF\xFE\xFA\x81\x8D" + sentences(9)), "");
  EXPECT_EQ(error(sentences(40), {.width = 10, .heads = 4}),
            "expected a width that the heads divide; got a width of 10 and 4 heads");
  EXPECT_EQ(error(sentences(40), {.context = 16, .stride = 17}),
            "expected a stride of at most the context, 16; got 17");
  LanguageTaskOptions nothing_trains = kSmall;
  nothing_trains.validation = 0.5;
  nothing_trains.test = 0.5;
  EXPECT_EQ(error(sentences(40), nothing_trains),
            "validation and test are shares of the characters, together below 1; got 0.5 and 0.5");
}

TEST(Generator, ContinuesWhatItHasLearned) {
  const Model model = trained_model();
  Generator generator(model);
  EXPECT_TRUE(generator.caches());
  // Longer than the context of 16.
  EXPECT_EQ(generator.generate("the c", {.length = 43, .temperature = 0}),
            "at sat on the mat.\nthe cat sat on the mat.\n");
  EXPECT_EQ(generator.generate("the c", {.length = 4, .top_k = 1}), "at s");
  EXPECT_EQ(generator.generate("", {.length = 3, .temperature = 0}), "the");
  EXPECT_EQ(generator.generate("the", {.length = 0}), "");
}

TEST(Generator, CachesGiveTheLogitsOfTheWholeContext) {
  for (const std::int64_t layers : {1, 3}) {
    const LanguageTask task =
        task_of(sentences(40),
                {.context = 16, .layers = layers, .width = 24, .heads = 3, .dropout = 0.2});
    Model model(task.network, {.device = "cpu", .threads = 2, .seed = 3});
    model.set_class_names(task.data.train.classes());
    Generator cached(model);
    Generator whole(model, false);
    ASSERT_TRUE(cached.caches());
    ASSERT_FALSE(whole.caches());
    const std::string text = "the cat sat on the mat.\nthe";
    for (std::size_t length = 1; length <= text.size(); ++length) {
      const Tensor a = cached.logits(text.substr(0, length));
      const Tensor b = whole.logits(text.substr(0, length));
      ASSERT_EQ(a.shape(), (Shape{12}));
      for (std::size_t i = 0; i < 12; ++i) {
        EXPECT_NEAR(a.as<float>()[i], b.as<float>()[i], 2e-5) << length << " " << i;
      }
    }
    const GenerateOptions options{.length = 60, .temperature = 1, .seed = 5};
    EXPECT_EQ(cached.generate("cat", options), whole.generate("cat", options));
  }
}

TEST(Generator, DrawsTheSameTextAtAnyNumberOfThreads) {
  const Model model = trained_model();
  const GenerateOptions options{.length = 100, .temperature = 2, .seed = 7};
  const std::string one = generate(model, "a", options);
  EXPECT_EQ(generate(model.copy({.device = "cpu", .threads = 3}), "a", options), one);
  EXPECT_NE(generate(model, "a", {.length = 100, .temperature = 2, .seed = 8}), one);
  EXPECT_NE(generate(model, "a", {.length = 100, .temperature = 2, .top_k = 2, .seed = 7}), one);
}

TEST(Generator, ReadsThePresentWeights) {
  const LanguageTask task = task_of(sentences(40));
  Model model(task.network, {.device = "cpu", .threads = 1});
  model.set_class_names(task.data.train.classes());
  Generator generator(model);
  static_cast<void>(generator.logits("a"));
  std::vector<float> bias(12, 0.0F);
  bias[5] = 100;
  model.set_parameter("head.bias", Tensor(bias, {12}));
  EXPECT_EQ(generator.generate("a", {.length = 3, .temperature = 0}), "eee");
}

TEST(Generator, TellsOfEachCharacterAndStopsWhereAsked) {
  const Model model = trained_model();
  std::string told;
  const auto stop = [&](std::string_view character) {
    told += character;
    return told.size() < 5;
  };
  const std::string text =
      generate(model, "the", {.length = 50, .temperature = 0, .on_text = stop});
  EXPECT_EQ(text, " cat ");
  EXPECT_EQ(told, text);
}

TEST(Generator, NamesWhatItCannotTake) {
  const Model model = trained_model();
  const auto error = [&](std::string_view prompt, const GenerateOptions& options) {
    return message_of([&] { generate(model, prompt, options); });
  };
  EXPECT_EQ(error("the dog", {}), "the model does not know the character 'd' of the prompt");
  EXPECT_EQ(error("\xFF", {}), "the prompt is not UTF-8");
  EXPECT_EQ(error("a", {.temperature = -1}),
            "[generate] expected temperature to be at least 0 and finite; got -1");
  EXPECT_EQ(error("a", {.length = -1}), "[generate] expected length to be in [0, 1e9]; got -1");
  const Model other(Network({4}, {}), {.device = "cpu", .threads = 1});
  const auto error_of_model = [](const Model& wrong) {
    return message_of([&] { generate(wrong, "a", {}); });
  };
  Model twice = model;
  std::vector<std::string> names = model.class_names();
  names[3] = names[2];
  twice.set_class_names(names);
  EXPECT_NE(error_of_model(twice).find("expected classes that differ"), std::string::npos)
      << error_of_model(twice);
  EXPECT_EQ(message_of([&] { const Generator none(other); }),
            "expected a language model, from ids (T) to logits (T, V) whose V classes are "
            "characters; got a network from (4) to (4) with 0 class names");
}

}  // namespace
}  // namespace linnet::test
