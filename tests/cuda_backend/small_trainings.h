// SPDX-License-Identifier: Apache-2.0
#pragma once

// Networks and options that the tests on both devices and those of the simulator share.
#include <linnet/linnet.h>

#include <utility>
#include <vector>

#include "cuda_model.h"

namespace linnet::testing {

inline Network small_cnn() {
  return Network({28, 28, 1}, {Rescale{}, Conv2d{.filters = 4, .padding = Padding2d::same()},
                               ReLU{}, MaxPool2d{4}, Flatten{}, Dense{.units = 10}});
}

inline Network with_dropout() {
  return Network({28, 28, 1},
                 {Rescale{}, Conv2d{.filters = 3, .padding = Padding2d::same()}, ReLU{},
                  MaxPool2d{4}, Flatten{}, Dropout{.rate = 0.3}, Dense{.units = 10}});
}

inline Network two_numbers() {
  return Network({2}, {Dense{.units = 4}, Tanh{}, Dense{.units = 2}});
}

/// y = (x0 + 2 x1 + 10, 3 x0 - x1)
inline Model affine(Model model) {
  set_parameter(model, "dense_1.weight", {1, 2, 3, -1});
  set_parameter(model, "dense_1.bias", {10, 0});
  return model;
}
inline Network affine_network() { return Network({2}, {Dense{.units = 2}}); }

inline TrainingOptions two_epochs() {
  return {.epochs = 2, .batch = 8, .optimizer = Adam{.learning_rate = 1e-2}};
}

/// 22 samples of 28 to train on: two full batches of 8 and a rest.
inline Splits with_validation(const Dataset& data, const Dataset& test = {}) {
  auto [training, validation] = data.split(0.2);
  return {.train = std::move(training), .validation = std::move(validation), .test = test};
}

/// Holds what a training leaves: its weights, and the losses of every epoch.
struct Trained {
  std::vector<float> weights;
  std::vector<double> losses;
  bool operator==(const Trained&) const = default;
};

inline Trained trained(Model model, const Splits& data, const TrainingOptions& options) {
  const History history = train(model, data, options);
  Trained result{all_weights(model), {}};
  for (const EpochReport& epoch : history.epochs) {
    result.losses.insert(result.losses.end(),
                         {epoch.train.loss, epoch.validation.loss, epoch.test.loss});
  }
  return result;
}

}  // namespace linnet::testing
