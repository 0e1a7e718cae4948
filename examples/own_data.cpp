// SPDX-License-Identifier: Apache-2.0
// Data sets of a program's own arrays. Page 2 of the tutorial and docs/data.md explain it.
#include <linnet/linnet.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

using namespace linnet;

/// Makes an image when a batch needs it: image i has brightness i, from 0 to 255.
class GreyImages : public RecordSource {
 public:
  std::int64_t size() const override { return 256; }
  DType dtype() const override { return DType::u8; }
  Shape record() const override { return {8, 8, 1}; }
  void read(std::int64_t index, std::span<std::byte> to) const override {
    std::ranges::fill(to, static_cast<std::byte>(index));
  }
};

int main() {
  // 1,000 images of 8 x 8 grey pixels; images of class 1 are brighter.
  std::vector<std::uint8_t> pixels(1000 * 8 * 8);
  std::vector<std::int32_t> labels(1000);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    labels[i] = i % 3 == 0 ? 1 : 0;
    for (std::size_t p = 0; p < 64; ++p) {
      pixels[i * 64 + p] = static_cast<std::uint8_t>(60 * labels[i] + (i * 31 + p * 17) % 97);
    }
  }

  // A data set reads the arrays in place.
  Dataset data({{"image", Tensor::borrow(pixels, {1000, 8, 8, 1})}},
               {{"label", Tensor::borrow(labels, {1000})}});
  data.set_classes({"dark", "bright"});

  const auto [training, validation] = data.split(0.2, {.seed = 1, .stratify = true});

  Model model(Network({8, 8, 1}, {Rescale{}, Flatten{}, Dense{.units = 2}}));
  train(model, {.train = training, .validation = validation}, {.epochs = 20, .batch = 32});
  std::printf("validation accuracy %.3f\n", evaluate(model, validation).accuracy);

  const Tensor probabilities = model.predict_probabilities(validation);  // f32 (200, 2)
  const std::span<const float> first = probabilities.as<float>().first(2);
  std::printf("first image: %s %.2f, %s %.2f\n", data.classes()[0].c_str(), first[0],
              data.classes()[1].c_str(), first[1]);

  // NumPy files.
  write_npy("images.npy", data.column("image").data);
  const Tensor images = read_npy("images.npy");  // u8 (1000, 8, 8, 1)

  // Two targets, a label and a value, for a network of two outputs.
  std::vector<float> means;
  for (std::int64_t i = 0; i < images.shape()[0]; ++i) {
    const std::span<const std::uint8_t> image = images.rows(i, i + 1).as<std::uint8_t>();
    means.push_back(std::accumulate(image.begin(), image.end(), 0.0F) / (64 * 255));
  }
  const Dataset named({{"image", images}}, {{"bright", Tensor::borrow(labels, {1000})},
                                            {"mean", Tensor(std::move(means), {1000, 1})}});

  FunctionalNetwork functional;
  const Expression features =
      functional.input("image", {8, 8, 1}) | Rescale{} | Flatten{} | Dense{.units = 8} | ReLU{};
  Model two(functional.build(
      {{"bright", features | Dense{.units = 2}}, {"mean", features | Dense{.units = 1}}}));
  train(two, named, {.epochs = 5, .batch = 32});
  for (const Column& output : two.predict_all(named)) {
    std::printf("%s %s\n", output.name.c_str(), to_string(output.data.shape()).c_str());
  }

  // Records that a function makes from others when a batch needs them.
  const Dataset centred = data.map(
      "image", {.record = {8, 8, 1}}, [](const Tensor& from, Tensor& to, const RecordPlace&) {
        const std::span<const std::uint8_t> image = from.as<std::uint8_t>();
        const float mean = std::accumulate(image.begin(), image.end(), 0.0F) / 64;
        std::ranges::transform(image, to.as_writable<float>().begin(),
                               [&](std::uint8_t pixel) { return pixel - mean; });
      });
  std::printf("mapped images: %s\n", to_string(centred.column("image").record()).c_str());

  // Records from a source.
  const Dataset drawn({{.name = "image", .source = std::make_shared<GreyImages>()}});
  std::printf("predictions of drawn images: %s\n", to_string(model.predict(drawn).shape()).c_str());
}

// Prints:
//   validation accuracy 1.000
//   first image: dark 0.52, bright 0.48
//   bright (1000, 2)
//   mean (1000, 1)
//   mapped images: (8, 8, 1)
//   predictions of drawn images: (256, 2)
