// SPDX-License-Identifier: Apache-2.0
// What the outputs of a model mean follows the loss of its training, also after saving and loading.
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/files.h"
#include "formats/safetensors.h"
#include "message_of.h"
#include "temporary_folder.h"
#include "weights.h"

namespace linnet::testing {
namespace {

const std::vector<float> kSamples{1, 0, 0, 1, 1, 1, -1, 2};

Dataset labelled() {
  Dataset data = data_of(records(kSamples, {2}), records(std::vector<std::int32_t>{0, 1, 0, 1}));
  data.set_classes({"a", "b"});
  return data;
}
Dataset valued() {
  const std::vector<float> values{1, 0, 0, 1, 1, 1, 0, 0};
  return data_of(records(kSamples, {2}), records(values, {2}));
}

Model trained(const Dataset& data, Loss loss, std::vector<Layer> last = {}) {
  Network network({2}, {Dense{.units = 2}});
  for (const Layer& layer : last) network.add(layer);
  Model model(network, {.device = "cpu", .threads = 1});
  train(model, data,
        {.epochs = 2, .batch = 2, .optimizer = Adam{.learning_rate = 0.1}, .loss = loss});
  return model;
}

Model saved_and_loaded(const Model& model) {
  const TemporaryFolder folder;
  model.save(folder / "model.safetensors");
  return Model::load(folder / "model.safetensors", {.device = "cpu", .threads = 1});
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(Outputs, MeanWhatTheLossSays) {
  struct Case {
    Loss loss;
    bool labels;
    Answers wanted;
  };
  for (const Case& c : std::vector<Case>{{Loss::automatic, true, Answers::classes},
                                         {Loss::cross_entropy, true, Answers::classes},
                                         {Loss::cross_entropy, false, Answers::classes},
                                         {Loss::kl_divergence, false, Answers::classes},
                                         {Loss::binary_cross_entropy, false, Answers::labels},
                                         {Loss::focal, true, Answers::classes},
                                         {Loss::focal, false, Answers::labels},
                                         {Loss::hinge, true, Answers::scores},
                                         {Loss::hinge, false, Answers::values},
                                         {Loss::automatic, false, Answers::values},
                                         {Loss::mse, false, Answers::values},
                                         {Loss::mae, false, Answers::values},
                                         {Loss::huber, false, Answers::values},
                                         {Loss::minkowski, false, Answers::values},
                                         {Loss::quantile, false, Answers::values},
                                         {Loss::cosine, false, Answers::values}}) {
    const Model model = trained(c.labels ? labelled() : valued(), c.loss);
    EXPECT_EQ(model.answers(), c.wanted) << model.training_record().loss;
    EXPECT_EQ(model.training_record().labels, c.labels);
    EXPECT_EQ(model.training_record().sample_shape, (Shape{2}));
    const Model loaded = saved_and_loaded(model);
    EXPECT_EQ(loaded.training_record(), model.training_record());
    EXPECT_EQ(loaded.answers(), c.wanted);
  }
}

TEST(Outputs, IndependentLabelsHaveASigmoidEach) {
  Model model = saved_and_loaded(trained(valued(), Loss::binary_cross_entropy));
  const Dataset data = valued();
  const std::vector<float> z = vector_of(model.predict(data));
  const std::vector<float> p = vector_of(model.predict_probabilities(data));
  const Tensor predicted =
      Predictor(model, {.probabilities = true}).predict(Tensor::borrow(kSamples, {4, 2}));
  const std::span<const float> resident = predicted.as<float>();
  ASSERT_EQ(resident.size(), p.size());
  for (std::size_t i = 0; i < z.size(); ++i) {
    EXPECT_NEAR(p[i], sigmoid(z[i]), 1e-6);
    EXPECT_EQ(resident[i], p[i]);
  }
}

TEST(Outputs, ClassifyNamesTheMostProbableClass) {
  const Tensor samples = Tensor::borrow(kSamples, {4, 2});
  for (const std::vector<Layer>& last : {std::vector<Layer>{}, {Softmax{}}, {LogSoftmax{}}}) {
    Model model = trained(labelled(), Loss::cross_entropy, last);
    const std::vector<float> p = vector_of(model.predict_probabilities(labelled()));
    for (const bool probabilities : {false, true}) {
      const Predictor predictor(model, {.probabilities = probabilities, .batches = {4}});
      const std::vector<Classified> classified = predictor.classify(samples);
      ASSERT_EQ(classified.size(), 4U);
      for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(classified[i].label, p[2 * i] >= p[2 * i + 1] ? "a" : "b");
        EXPECT_NEAR(classified[i].probability, std::max(p[2 * i], p[2 * i + 1]), 1e-6);
      }
    }
  }
}

TEST(Outputs, ClassifyCountsClassesWithoutNames) {
  Dataset data = labelled();
  data.set_classes({});
  const Model model = trained(data, Loss::cross_entropy);
  const std::string label = Predictor(model).classify(Tensor::borrow(kSamples, {4, 2}))[0].label;
  EXPECT_TRUE(label == "0" || label == "1") << label;
}

TEST(Outputs, ClassifyRefusesAClassAStep) {
  Model model(Network({3, 2}, {Dense{.units = 4}}), {.device = "cpu"});
  model.set_class_names({"a", "b", "c", "d"});
  EXPECT_EQ(message_of([&] {
              Predictor(model).classify(Tensor(DType::f32, {1, 3, 2}));
            }),
            "classify() needs outputs (N, classes); this model's are (3, 4) a sample, which "
            "predict() returns");
}

TEST(Outputs, ClassifyRefusesValuesAndOutputsThatAreNotFinite) {
  const Predictor values(trained(valued(), Loss::mse));
  EXPECT_EQ(message_of([&] {
              values.classify(Tensor::borrow(kSamples, {4, 2}));
            }),
            "classify() needs a model with classes (by its loss, a last Softmax or class names); "
            "predict() returns the outputs of this one");
  Model ruined = trained(labelled(), Loss::cross_entropy);
  ruined.set_parameter("dense_1.bias", Tensor(std::vector<float>{NAN, 0}, Shape{2}));
  EXPECT_EQ(message_of([&] {
              Predictor(ruined).classify(Tensor::borrow(kSamples, {4, 2}));
            }),
            "the outputs of sample 0 are not finite");
}

TEST(Outputs, AreNotSquashedTwice) {
  for (const Loss loss : {Loss::binary_cross_entropy, Loss::cross_entropy}) {
    for (const Layer& last : {Layer(Sigmoid{}), Layer(Softmax{})}) {
      Model model = trained(valued(), loss, {last});
      EXPECT_TRUE(same_bits(model.predict_probabilities(valued()), model.predict(valued())));
    }
  }
  Model untrained(Network({2}, {Dense{.units = 2}, Sigmoid{}}));
  EXPECT_EQ(untrained.answers(), Answers::labels);
  EXPECT_TRUE(same_bits(untrained.predict_probabilities(valued()), untrained.predict(valued())));
}

TEST(Outputs, ALossWithoutProbabilitiesSaysSo) {
  Model model = trained(valued(), Loss::mse);
  EXPECT_EQ(message_of([&] { model.predict_probabilities(valued()); }),
            "the model was trained with the loss mse, which defines no probabilities; predict() "
            "returns its outputs");
}

TEST(Outputs, OfAFileThatNamesNoLossAreAssumed) {
  Model model = trained(labelled(), Loss::cross_entropy);
  const TemporaryFolder folder;
  model.save(folder / "old.safetensors");
  const SafetensorsFile file = read_safetensors(folder / "old.safetensors");
  std::map<std::string, std::string> metadata = file.metadata();
  EXPECT_EQ(metadata.erase("linnet.training"), 1U);
  write_safetensors(folder / "old.safetensors", file.tensors(), metadata);
  Model old = Model::load(folder / "old.safetensors", {.device = "cpu", .threads = 1});
  EXPECT_EQ(old.training_record(), TrainingRecord{});
  EXPECT_EQ(old.answers(), Answers::classes);  // it has class names
  EXPECT_TRUE(
      same_bits(old.predict_probabilities(labelled()), model.predict_probabilities(labelled())));
  old.set_class_names({});
  EXPECT_EQ(old.answers(), Answers::values);
}

TEST(Outputs, ADamagedRecordIsAnError) {
  Model model = trained(labelled(), Loss::cross_entropy);
  const TemporaryFolder folder;
  model.save(folder / "whole.safetensors");
  const SafetensorsFile file = read_safetensors(folder / "whole.safetensors");
  for (const char* record :
       {"[]", "{}", R"({"loss": 1, "labels": true, "sample_shape": [2]})",
        R"({"loss": "guess", "labels": true, "sample_shape": [2]})",
        R"({"loss": "mse", "labels": true, "sample_shape": [2, -1]})",
        R"({"loss": "mse", "labels": true, "sample_shape": [0]})",
        R"({"loss": "mse", "labels": true, "sample_shape": [65536, 65536, 3]})",
        R"({"loss": "mse", "labels": true, "sample_shape": ["2"]})"}) {
    std::map<std::string, std::string> metadata = file.metadata();
    metadata["linnet.training"] = record;
    const std::string path = (folder / "damaged.safetensors").string();
    write_safetensors(path, file.tensors(), metadata);
    EXPECT_EQ(message_of([&] { Model::load(path); }),
              "cannot load the model '" + path + "': its training record is damaged")
        << record;
  }
}

}  // namespace
}  // namespace linnet::testing
