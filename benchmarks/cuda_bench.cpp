// SPDX-License-Identifier: Apache-2.0
// Trains a published workload on a device and prints one JSON line: samples per second of whole
// epochs, and the loss of each. benchmarks/peers/torch does the same in PyTorch on the same data,
// which --export writes for it.
#include <fmt/format.h>
#include <linnet/linnet.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "data/rosenbrock.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kDataSeed = 1;

struct Arguments {
  std::string workload;
  std::string device = "cuda";
  Precision precision = Precision::automatic;
  std::int64_t batch = 0;    // 0: the workload's
  std::int64_t samples = 0;  // likewise
  std::int64_t warmup = 2;
  std::int64_t epochs = 10;
  std::int64_t graph_steps = CudaOptions::kWholeEpoch;
  std::uint64_t seed = 0;
  bool own_kernels = false;
  bool streamed = false;
  std::string library;
  std::string cache;
  std::string export_folder;
};

/// Drawn digits in the shape of CIFAR, for machines that have none: centred in (32, 32, 3), in
/// three strengths of each colour.
Dataset coloured_digits(std::int64_t count) {
  const Dataset digits = make_digits(count, 0, kDataSeed).train;
  constexpr std::int64_t kSide = 32;
  constexpr std::int64_t kDigit = 28;
  constexpr std::int64_t kMargin = (kSide - kDigit) / 2;
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count * kSide * kSide * 3));
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t y = 0; y < kDigit; ++y) {
      for (std::int64_t x = 0; x < kDigit; ++x) {
        const int value = digits.bytes[static_cast<std::size_t>((i * kDigit + y) * kDigit + x)];
        const std::int64_t pixel = (i * kSide + y + kMargin) * kSide + x + kMargin;
        for (std::int64_t c = 0; c < 3; ++c) {
          const auto strength = static_cast<int>(i * (7 + 4 * c) % 3 + 1);  // thirds
          bytes[static_cast<std::size_t>(pixel * 3 + c)] =
              static_cast<std::uint8_t>(value * strength / 3);
        }
      }
    }
  }
  Dataset data = make_dataset({kSide, kSide, 3}, bytes, digits.labels);
  data.class_names = digits.class_names;
  return data;
}

struct Workload {
  std::int64_t batch = 0;
  std::int64_t samples = 0;  ///< of an epoch
  std::function<Network()> network;
  std::function<Dataset(std::int64_t)> data;
};

const std::map<std::string, Workload>& workloads() {
  static const std::map<std::string, Workload> all{
      {"mnist-cnn",
       {128, 10000, [] { return zoo::mnist_cnn(); },
        [](std::int64_t n) { return make_digits(n, 0, kDataSeed).train; }}},
      {"resnet50-cifar10", {128, 50000, [] { return zoo::resnet50(); }, coloured_digits}},
      {"rosenbrock-mlp",
       {8000, 32000, [] { return zoo::rosenbrock_mlp(); },
        [](std::int64_t n) { return make_rosenbrock(n, 0, 1000, kDataSeed).train; }}},
  };
  return all;
}

template <class T>
void write(const fs::path& file, const std::vector<T>& values) {
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(T)));
  if (!out.flush()) throw Error(fmt::format("cannot write '{}'", file.string()));
}

/// data.json, samples.bin (u8 or f32) and targets.bin (i32 or f32), as protocol.py reads them.
void export_data(const Dataset& data, const fs::path& folder) {
  fs::create_directories(folder);
  const bool u8 = data.sample_dtype == DType::u8;
  const bool labels = !data.labels.empty();
  u8 ? write(folder / "samples.bin", data.bytes) : write(folder / "samples.bin", data.floats);
  labels ? write(folder / "targets.bin", data.labels) : write(folder / "targets.bin", data.values);
  nlohmann::json about{{"name", data.name},
                       {"samples", data.size()},
                       {"sample_shape", data.sample_shape.dims()},
                       {"sample_dtype", to_string(data.sample_dtype)},
                       {"target_dtype", labels ? "i32" : "f32"}};
  std::ofstream(folder / "data.json") << about.dump(1) << '\n';
}

std::string precision_name(Precision precision) {
  switch (precision) {
    case Precision::automatic: return "auto";
    case Precision::fp32: return "fp32";
    case Precision::tf32: return "tf32";
    case Precision::bf16: return "bf16";
  }
  return "";
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// How steps are launched.
std::string mode_name(const Arguments& a) {
  std::string mode = a.device == "cpu"    ? "steps"
                     : a.graph_steps == 0 ? "kernel by kernel"
                     : a.graph_steps < 0  ? "epoch graph"
                                          : fmt::format("graph of {} steps", a.graph_steps);
  if (a.own_kernels) mode += ", own convolutions";
  if (a.streamed) mode += ", streamed";
  return mode;
}

void bench(const Arguments& a, const Workload& workload, const Dataset& data, std::int64_t batch) {
  Model model(workload.network(), {.device = a.device,
                                   .seed = a.seed,
                                   .precision = a.precision,
                                   .cuda = {.graph_steps = a.graph_steps,
                                            .cudnn = !a.own_kernels,
                                            .cache_folder = a.cache,
                                            .library = a.library}});
  const History history = train(model, data,
                                {.epochs = a.warmup + a.epochs,
                                 .batch = batch,
                                 .optimizer = adam(1e-3),
                                 .seed = a.seed,
                                 .streamed = a.streamed});
  std::vector<double> rates;
  std::vector<double> losses;
  for (const EpochReport& epoch : history.epochs) {
    losses.push_back(epoch.train.loss);
    if (epoch.epoch > a.warmup) rates.push_back(epoch.samples_per_second);
  }
  const CudaStatus status = a.device == "cpu" ? CudaStatus{} : cuda_status(a.library);
  const nlohmann::ordered_json line{
      {"framework", "linnet"},
      {"mode", mode_name(a)},
      {"workload", a.workload},
      {"device", status.devices.empty() ? model.device() : status.devices[0].name},
      {"batch", batch},
      {"precision", precision_name(a.precision)},
      {"samples", data.size()},
      {"epochs", a.epochs},
      {"samples_per_second",
       {{"median", median(rates)},
        {"min", *std::min_element(rates.begin(), rates.end())},
        {"max", *std::max_element(rates.begin(), rates.end())}}},
      {"loss", losses.back()},
      {"losses", losses},
      {"startup_s", history.startup_seconds},
      {"planned_bytes", history.planned_bytes},
      {"notes", history.notes},
      {"versions", {{"linnet", LINNET_VERSION}, {"libraries", status.libraries}}}};
  fmt::print("{}\n", line.dump());
}

int run(int argc, char** argv) {
  CLI::App app("Trains a workload and prints its speed and losses as one JSON line");
  Arguments a;
  const std::map<std::string, Precision> precisions{{"auto", Precision::automatic},
                                                    {"fp32", Precision::fp32},
                                                    {"tf32", Precision::tf32},
                                                    {"bf16", Precision::bf16}};
  app.add_option("--workload", a.workload, "which")->required()->check(CLI::IsMember(workloads()));
  app.add_option("--device", a.device, "cpu, cuda, cuda:1, ...");
  app.add_option("--precision", a.precision, "of products and convolutions")
      ->transform(CLI::CheckedTransformer(precisions));
  app.add_option("--batch", a.batch, "samples in a step")->check(CLI::PositiveNumber);
  app.add_option("--samples", a.samples, "in an epoch; less its last incomplete batch")
      ->check(CLI::PositiveNumber);
  app.add_option("--warmup", a.warmup, "epochs that are not timed")->check(CLI::NonNegativeNumber);
  app.add_option("--epochs", a.epochs, "timed epochs")->check(CLI::PositiveNumber);
  app.add_option("--graph-steps", a.graph_steps, "steps in a launch; -1: the whole epoch");
  app.add_option("--seed", a.seed, "of the weights and the shuffle");
  app.add_flag("--own-kernels", a.own_kernels, "no cuDNN");
  app.add_flag("--streamed", a.streamed, "leave the data in host memory");
  app.add_option("--library", a.library, "the CUDA plug-in");
  app.add_option("--cache", a.cache, "folder of measured choices");
  app.add_option("--export", a.export_folder, "write the data here and do nothing else");
  CLI11_PARSE(app, argc, argv);

  const Workload& workload = workloads().at(a.workload);
  const std::int64_t batch = a.batch > 0 ? a.batch : workload.batch;
  const std::int64_t samples = (a.samples > 0 ? a.samples : workload.samples) / batch * batch;
  if (samples == 0) throw Error(fmt::format("an epoch holds less than a batch of {}", batch));
  const Dataset data = workload.data(samples);
  if (!a.export_folder.empty()) {
    export_data(data, a.export_folder);
  } else {
    bench(a, workload, data, batch);
  }
  return 0;
}

}  // namespace
}  // namespace linnet

int main(int argc, char** argv) {
  try {
    return linnet::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_workload: {}\n", error.what());
    return 1;
  }
}
