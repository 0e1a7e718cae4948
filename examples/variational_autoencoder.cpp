// SPDX-License-Identifier: Apache-2.0
// A variational autoencoder (Kingma and Welling, 2014): an encoder gives mean and spread of a code,
// a decoder draws images of codes. Both outputs' losses together are the negative ELBO.
//   variational_autoencoder [FOLDER]   Fashion-MNIST in that folder, or else drawn digits
#include <linnet/linnet.h>

#include <cstdio>

using namespace linnet;

constexpr std::int64_t kCode = 8;
constexpr std::int64_t kPixels = 28 * 28;

/// The images as values in [0, 1], which are the targets too.
Dataset reconstructed(const Dataset& data) {
  const std::span<const std::uint8_t> bytes = data.inputs()[0].data.as<std::uint8_t>();
  std::vector<float> targets;
  for (const std::uint8_t byte : bytes) targets.push_back(static_cast<float>(byte) / 255);
  return Dataset({{"image", data.inputs()[0].data}},
                 {{"pixels", Tensor(std::move(targets), {data.size(), kPixels})}});
}

/// The negative log-likelihood of a sample's pixels under logits.
Expression reconstruction(const Expression& logits, const Expression& pixels) {
  return sum(softplus(logits) - pixels * logits);
}

/// The KL divergence of the code's normal distribution, means and then logarithms of variances,
/// from the one of mean 0 and variance 1. The target is not looked at.
Expression divergence(const Expression& code, const Expression& /*target*/) {
  const std::vector<Expression> parts = split(code, {kCode, kCode}, 0);
  return 0.5 * sum(square(parts[0]) + exp(parts[1]) - parts[1] - 1);
}

int main(int argc, char** argv) {
  const Splits splits =
      argc > 1 ? datasets::fashion_mnist(argv[1]) : datasets::digits(4000, 500, 1);

  FunctionalNetwork f;
  const Block decoder = block("decoder", {Dense{.units = 128}, ReLU{}, Dense{.units = kPixels}});
  const Expression image = f.input("image", {28, 28, 1}) | Rescale{1.0 / 255} | Flatten{};
  const Expression code = image | Dense{.units = 128} | ReLU{} | Dense{.units = 2 * kCode};
  const std::vector<Expression> parts = split(code, {kCode, kCode}, 0);
  const Expression drawn = parts[0] + exp(0.5 * parts[1]) * f.normal({kCode});
  Model model(f.build({{"pixels", decoder(drawn)},
                       {"code", code},
                       {"generated", sigmoid(decoder(f.normal({kCode})))}}));

  OutputLoss of_pixels{.output = "pixels"};
  of_pixels.custom = reconstruction;
  OutputLoss of_code{.output = "code"};
  of_code.custom = divergence;
  of_code.target = 0;  // no column of the data set
  Objective elbo;
  elbo.output_losses = {of_pixels, of_code};
  elbo.optimizer = Adam{.learning_rate = 2e-3};
  Trainer trainer(model, elbo, {.seed = 1});
  const Dataset train = reconstructed(splits.train);
  for (int epoch = 1; epoch <= 4; ++epoch) {
    trainer.fit(train, {.epochs = 4, .batch = 50});
    std::printf("negative ELBO %.1f\n", trainer.evaluate(reconstructed(splits.test)).loss);
  }
  // 8 x 8 images of codes that were drawn: one sheet of (224, 224).
  const Dataset some = splits.test.rows(0, 64);
  const Tensor generated = model.predict_all(some)[2].data;
  const std::span<const float> pixels = generated.as<float>();
  std::vector<std::uint8_t> sheet(8 * 28 * 8 * 28);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const std::size_t tile = i / kPixels;
    const std::size_t row = tile / 8 * 28 + i % kPixels / 28;
    const std::size_t column = tile % 8 * 28 + i % 28;
    sheet[row * 8 * 28 + column] = static_cast<std::uint8_t>(255 * pixels[i]);
  }
  write_npy("generated.npy", Tensor(std::move(sheet), {8 * 28, 8 * 28}));
  std::printf("64 images of drawn codes: generated.npy\n");
}

// Prints:
//   negative ELBO 224.5
//   negative ELBO 216.3
//   negative ELBO 212.5
//   negative ELBO 210.3
//   64 images of drawn codes: generated.npy
