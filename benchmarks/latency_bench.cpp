// SPDX-License-Identifier: Apache-2.0
// Times a Predictor, one sample after another: MODEL SAMPLES OUTPUTS CALLS. Prints one JSON line;
// c_file.py runs it.
#include <linnet/linnet.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <span>
#include <vector>

using namespace linnet;

namespace {

void time_predictor(char** arguments) {
  const Model model = Model::load(arguments[1], {.device = "cpu", .threads = 1});
  const Predictor predictor(model, {.batches = {1}});
  std::vector<float> sample(static_cast<std::size_t>(predictor.input_shape().elements()));
  std::vector<float> output(static_cast<std::size_t>(predictor.output_shape().elements()));
  const Tensor in = Tensor::borrow(std::span(sample), predictor.input_shape().batched(1));
  const Tensor out = Tensor::borrow(std::span(output), predictor.output_shape().batched(1));
  std::ifstream samples(arguments[2], std::ios::binary);
  std::ofstream outputs(arguments[3], std::ios::binary);
  const auto bytes = [](std::vector<float>& values) {
    return std::as_writable_bytes(std::span(values));
  };
  const std::span<std::byte> from = bytes(sample);
  const std::span<std::byte> to = bytes(output);
  while (samples.read(reinterpret_cast<char*>(from.data()), std::ssize(from))) {
    predictor.predict(in, out);
    outputs.write(reinterpret_cast<const char*>(to.data()), std::ssize(to));
  }

  std::vector<double> times(static_cast<std::size_t>(std::max(1L, std::atol(arguments[4]))));
  for (std::size_t i = 0; i < times.size() / 10; ++i) predictor.predict(in, out);
  for (double& time : times) {
    const auto begin = std::chrono::steady_clock::now();
    predictor.predict(in, out);
    time = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
               .count();
  }
  std::ranges::sort(times);
  std::printf(R"({"least_us": %.4f, "median_us": %.4f, "p99_us": %.4f})"
              "\n",
              times[0], times[times.size() / 2], times[times.size() * 99 / 100]);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 5) return 2;
    time_predictor(argv);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
