// SPDX-License-Identifier: Apache-2.0
// Writes a model file and prints its class names and predictions, as the programs of
// examples/c_interface do: reference MODEL.
#include <linnet/layers.h>
#include <linnet/model.h>
#include <linnet/predictor.h>

#include <cstdio>
#include <vector>

int main(int count, char** words) {
  using namespace linnet;
  if (count != 2) return 2;
  Model model(Network({4}, {Dense{.units = 8}, Tanh{}, Dense{.units = 3}}),
              {.device = "cpu", .threads = 1, .seed = 3});
  model.set_class_names({"left", "middle", "r\u00e9st"});
  model.save(words[1]);
  for (const auto& name : model.class_names()) std::printf("%s\n", name.c_str());
  std::vector<float> samples;
  for (int i = 0; i < 12; ++i) samples.push_back(0.125F * static_cast<float>(i * 7 % 11 - 5));
  const Tensor outputs = Predictor(model).predict(Tensor::borrow(samples, {3, 4}));
  for (const float number : outputs.as<float>()) std::printf("%.9g\n", number);
}
