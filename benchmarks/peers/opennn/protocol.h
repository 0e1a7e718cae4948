// SPDX-License-Identifier: Apache-2.0
// What the OpenNN peers share, as common/peer.py for those in Python: options, the data that
// `linnet bench --export` wrote, whole timed epochs, their JSON line.
#pragma once

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "opennn/adaptive_moment_estimation.h"
#include "opennn/configuration.h"
#include "opennn/device_backend.h"
#include "opennn/forward_propagation.h"
#include "opennn/neural_network.h"
#include "opennn/random_utilities.h"
#include "opennn/stochastic_gradient_descent.h"
#include "opennn/tabular_dataset.h"
#include "opennn/tensor_types.h"
#include "opennn/training_strategy.h"

namespace protocol {

using namespace opennn;  // as OpenNN's own programs do

struct Options {
  std::string data, precision = "auto";
  Index batch = 8000, warmup = 2, epochs = 10;
  int threads = 0;
  unsigned seed = 0;
  bool infer = false;
};

inline Options options_of(int count, char** words) {
  Options found;
  for (int i = 1; i < count; ++i) {
    const std::string name = words[i];
    if (name == "--infer") {
      found.infer = true;
      continue;
    }
    if (name == "--test")  // OpenNN's own loop over epochs has no place for it outside their clock
      throw std::runtime_error("this peer has no --test");
    if (++i == count) throw std::runtime_error(name + " wants a value");
    const std::string value = words[i];
    if (name == "--data")
      found.data = value;
    else if (name == "--precision")
      found.precision = value;
    else if (name == "--batch")
      found.batch = std::stol(value);
    else if (name == "--warmup")
      found.warmup = std::stol(value);
    else if (name == "--epochs")
      found.epochs = std::stol(value);
    else if (name == "--threads")
      found.threads = std::stoi(value);
    else if (name == "--seed")
      found.seed = unsigned(std::stoul(value));
    else if (name != "--device")
      throw std::runtime_error("unknown option " + name);
    else if (value != "cpu")
      throw std::runtime_error("this peer runs on the CPU; got --device " + value);
  }
  if (found.precision != "auto" && found.precision != "fp32")
    throw std::runtime_error("this peer computes in fp32; got --precision " + found.precision);
  return found;
}

// f32 samples each followed by its targets, (N, inputs + targets), as OpenNN's tables have them.
struct Table {
  MatrixR rows;
  Shape sample, targets;  // of one row
  bool classes = false;
};

inline std::string field(const std::string& text, const std::string& name) {
  const std::regex pattern("\"" + name + R"("\s*:\s*"?([^",}\n]*))");
  std::smatch found;
  if (!std::regex_search(text, found, pattern))
    throw std::runtime_error("data.json has no " + name);
  return found[1];
}

inline Shape shape_of(const std::string& text, const std::string& name) {
  std::smatch found;
  if (!std::regex_search(text, found, std::regex("\"" + name + R"("\s*:\s*\[([^\]]*))")))
    throw std::runtime_error("data.json has no " + name);
  std::string numbers = found[1];
  std::replace(numbers.begin(), numbers.end(), ',', ' ');
  std::istringstream from(numbers);
  const std::vector<Index> sizes{std::istream_iterator<Index>(from), {}};
  return {sizes.begin(), sizes.end()};
}

template <class T>
std::vector<T> read_file(const std::filesystem::path& path) {
  std::vector<T> found(std::filesystem::file_size(path) / sizeof(T));
  std::ifstream from(path, std::ios::binary);
  from.read(reinterpret_cast<char*>(found.data()), std::streamsize(found.size() * sizeof(T)));
  if (!from) throw std::runtime_error("cannot read " + path.string());
  return found;
}

// Pixels become 0 to 1 and classes one-hot rows here, outside the clock.
inline Table table_of(const std::filesystem::path& folder) {
  std::ifstream about(folder / "data.json");
  const std::string text(std::istreambuf_iterator<char>(about), {});
  const Index count = std::stol(field(text, "samples"));
  Table found;
  found.sample = shape_of(text, "sample_shape");
  found.classes = field(text, "target_dtype") == "i32";
  std::vector<float> samples, targets;
  if (field(text, "sample_dtype") == "u8") {
    const auto pixels = read_file<unsigned char>(folder / "samples.bin");
    samples.resize(pixels.size());
    std::transform(pixels.begin(), pixels.end(), samples.begin(),
                   [](unsigned char pixel) { return float(pixel) / 255.0F; });
  } else {
    samples = read_file<float>(folder / "samples.bin");
  }
  if (found.classes) {
    const auto classes = read_file<int>(folder / "targets.bin");
    const Index width = std::stol(field(text, "classes"));
    targets.resize(std::size_t(count * width));
    for (Index i = 0; i < count; ++i) targets[std::size_t(i * width + classes[std::size_t(i)])] = 1;
  } else {
    targets = read_file<float>(folder / "targets.bin");
  }
  const Index in = Index(samples.size()) / count, out = Index(targets.size()) / count;
  found.targets = Shape{out};
  found.rows.resize(count, in + out);
  for (Index i = 0; i < count; ++i) {  // rows lie one after the other
    float* row = found.rows.data() + i * (in + out);
    std::copy_n(samples.data() + i * in, in, row);
    std::copy_n(targets.data() + i * out, out, row + in);
  }
  return found;
}

struct Result {
  std::vector<double> seconds, losses;  // of the timed epochs, and of all
  bool finite = true;
};

class Clock {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(began_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

// OpenNN has the loop over the epochs and no hook in it; it prints a line "Training error: ..." at
// the end of each. This buffer, to which std::cout writes meanwhile, takes the time of these.
class EpochWatch : public std::streambuf {
 public:
  EpochWatch() : old_(std::cout.rdbuf(this)) {}
  EpochWatch(const EpochWatch&) = delete;
  EpochWatch& operator=(const EpochWatch&) = delete;
  ~EpochWatch() override { std::cout.rdbuf(old_); }
  std::vector<double> seconds;

 protected:
  int overflow(int character) override {
    if (character != '\n') {
      line_ += char(character);
    } else if (const std::string line = std::exchange(line_, {});
               line.starts_with("Training error")) {
      seconds.push_back(clock_.lap());
    } else if (line.starts_with("Training with")) {
      clock_.lap();  // what came before belongs to no epoch
    }
    return character;
  }

 private:
  std::streambuf* old_;
  std::string line_;
  Clock clock_;
};

using Optimize = std::function<void(TrainingStrategy&, const Options&)>;

template <class Optimizer>
Optimizer& optimizer_of(TrainingStrategy& training, const char* name, const Options& asked) {
  training.set_optimization_algorithm(name);
  auto& found = dynamic_cast<Optimizer&>(*training.get_optimization_algorithm());
  found.set_batch_size(asked.batch);
  return found;
}

// Adam at 1e-3.
inline void use_adam(TrainingStrategy& training, const Options& asked) {
  optimizer_of<AdaptiveMomentEstimation>(training, "AdaptiveMomentEstimation", asked)
      .set_learning_rate(1e-3f);
}

// Stochastic gradient descent at 0.01 with momentum 0.9.
inline void use_momentum(TrainingStrategy& training, const Options& asked) {
  auto& sgd = optimizer_of<StochasticGradientDescent>(training, "StochasticGradientDescent", asked);
  sgd.set_initial_learning_rate(0.01f);
  sgd.set_initial_decay(0.0f);
  sgd.set_momentum(0.9f);
}

inline Result train(NeuralNetwork& network, Table table, const Optimize& optimize,
                    const Options& asked) {
  TabularDataset dataset(table.rows.rows(), table.sample, table.targets);
  dataset.set_data(std::move(table.rows));
  dataset.set_sample_roles("Training");
  dataset.set_variable_scalers("None");
  TrainingStrategy training(&network, &dataset);
  training.set_loss(table.classes ? "CrossEntropy" : "MeanSquaredError");
  training.get_loss()->set_regularization("NoRegularization");
  optimize(training, asked);
  Optimizer& optimizer = *training.get_optimization_algorithm();
  optimizer.set_maximum_epochs(asked.warmup + asked.epochs);
  optimizer.set_gradient_clip_norm(0.0f);
  optimizer.set_display_period(1);
  Result found;
  EpochWatch watch;
  const TrainingResult result = training.train();
  // After the last epoch it prints the error once more.
  for (Index epoch = 0; epoch < result.get_epochs_number(); ++epoch) {
    const double error = result.training_error_history(epoch);
    // Its squared error is half the sum over a sample's targets.
    found.losses.push_back(table.classes ? error : 2.0 * error / double(table.targets.size()));
    if (epoch >= asked.warmup) found.seconds.push_back(watch.seconds.at(std::size_t(epoch)));
  }
  return found;
}

inline Result predict(NeuralNetwork& network, const Table& table, const Options& asked) {
  constexpr auto kInference = ForwardPropagationMode::Inference;
  std::vector<MatrixR> batches;  // each aligned as OpenNN's kernels want it, outside the clock
  for (Index i = 0; i < table.rows.rows(); i += asked.batch)
    batches.emplace_back(table.rows.middleRows(i, std::min(asked.batch, table.rows.rows() - i))
                             .leftCols(table.rows.cols() - table.targets.size()));
  ForwardPropagation whole(batches.front().rows(), &network, kInference);
  std::unique_ptr<ForwardPropagation> rest;
  if (batches.back().rows() != batches.front().rows())
    rest = std::make_unique<ForwardPropagation>(batches.back().rows(), &network, kInference);
  Result found;
  for (Index epoch = 0; epoch < asked.warmup + asked.epochs; ++epoch) {
    Clock clock;
    for (MatrixR& batch : batches) {
      ForwardPropagation& pass = batch.rows() == batches.front().rows() ? whole : *rest;
      std::vector<Index> shape{batch.rows()};
      shape.insert(shape.end(), table.sample.begin(), table.sample.end());
      const TensorView view(batch.data(), Shape(shape.begin(), shape.end()), Type::FP32);
      network.forward_propagate({view}, pass, false);
      found.finite = found.finite && std::isfinite(pass.get_outputs().as_matrix()(0, 0));
    }
    if (const double took = clock.lap(); epoch >= asked.warmup) found.seconds.push_back(took);
  }
  return found;
}

inline long peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (long kib = 0; word == "VmHWM:" && status >> kib) return 1024 * kib;
  return 0;
}

inline std::string json(double value) {
  std::ostringstream out;
  out << std::setprecision(12) << value;
  return std::isfinite(value) ? out.str() : "null";
}

inline std::string json(const std::vector<double>& values) {
  std::string out;
  for (double each : values) out += (out.empty() ? "" : ", ") + json(each);
  return "[" + out + "]";
}

inline void report(const std::string& workload, const Options& asked, Index parameters,
                   Index samples, double data_seconds, const Result& found) {
  std::vector<double> rates;
  for (double each : found.seconds) rates.push_back(double(samples) / each);
  std::sort(rates.begin(), rates.end());
  const std::size_t half = rates.size() / 2;
  const double median = rates.size() % 2 ? rates[half] : (rates[half - 1] + rates[half]) / 2;
  std::cout << R"({"framework": "opennn", "workload": ")" << workload
            << R"(", "device": "cpu", "mode": "eager", "infer": )"
            << (asked.infer ? "true" : "false") << R"(, "parameters": )" << parameters
            << R"(, "threads": )" << omp_get_max_threads() << R"(, "batch": )" << asked.batch
            << R"(, "precision": ")" << asked.precision << R"(", "samples": )" << samples
            << R"(, "warmup": )" << asked.warmup << R"(, "epochs": )" << asked.epochs
            << R"(, "samples_per_second": {"median": )" << json(median) << R"(, "min": )"
            << json(rates.front()) << R"(, "max": )" << json(rates.back())
            << R"(}, "timed_seconds": )" << json(found.seconds) << R"(, "losses": )"
            << json(found.losses) << R"(, "loss": )"
            << (found.losses.empty() ? "null" : json(found.losses.back())) << R"(, "failed": )"
            << (found.finite ? "null" : R"("the outputs are not finite")")
            << R"(, "data_seconds": )" << json(data_seconds) << R"(, "peak_bytes": )"
            << peak_bytes() << R"(, "versions": {"opennn": ")" << OPENNN_COMMIT << "\"}}"
            << std::endl;
}

// A peer's whole program; the network must have as many `parameters` as the workload says.
inline int run(const std::string& workload, Index parameters,
               const std::function<void(NeuralNetwork&)>& add_layers, const Optimize& optimize,
               int count, char** words) {
  try {
    const Options asked = options_of(count, words);
    // Eigen's pool of threads, and OpenMP's.
    Backend::instance().set_threads_number(asked.threads > 0 ? asked.threads
                                                             : omp_get_max_threads());
    Configuration::instance().set(Device::CPU, Type::FP32);
    Clock clock;
    Table table = table_of(asked.data);
    const double data_seconds = clock.lap();
    set_seed(asked.seed);
    NeuralNetwork network;
    add_layers(network);
    network.compile();
    network.set_parameters_glorot();
    if (network.get_parameters_number() != parameters)
      throw std::runtime_error(workload + " has " + std::to_string(parameters) +
                               " parameters; this model has " +
                               std::to_string(network.get_parameters_number()));
    const Index samples = table.rows.rows();
    const Result found = asked.infer ? predict(network, table, asked)
                                     : train(network, std::move(table), optimize, asked);
    if (Index(found.seconds.size()) != asked.epochs)
      throw std::runtime_error("OpenNN ended its training before the last epoch");
    report(workload, asked, parameters, samples, data_seconds, found);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}

}  // namespace protocol
