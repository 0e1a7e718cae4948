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

#include "opennn/core/configuration.h"
#include "opennn/core/random_utilities.h"
#include "opennn/core/tensor_operations.h"
#include "opennn/core/tensor_types.h"
#include "opennn/dataset/tabular_dataset.h"
#include "opennn/network/forward_propagation.h"
#include "opennn/network/network.h"
#include "opennn/training/adam.h"
#include "opennn/training/training.h"

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
  Index inputs = 0;
};

inline std::string field(const std::string& text, const std::string& name) {
  const std::regex pattern("\"" + name + R"("\s*:\s*"?([^",}]*))");
  std::smatch found;
  if (!std::regex_search(text, found, pattern))
    throw std::runtime_error("data.json has no " + name);
  return found[1];
}

inline Table table_of(const std::filesystem::path& folder) {
  std::ifstream about(folder / "data.json");
  const std::string text(std::istreambuf_iterator<char>(about), {});
  if (field(text, "sample_dtype") != "f32" || field(text, "target_dtype") != "f32")
    throw std::runtime_error("this peer takes samples and targets of f32");
  const Index count = std::stol(field(text, "samples"));
  const auto width = [&](const char* file) {
    return Index(std::filesystem::file_size(folder / file)) / Index(sizeof(float)) / count;
  };
  Table found;
  found.inputs = width("samples.bin");
  const Index targets = width("targets.bin");
  found.rows.resize(count, found.inputs + targets);
  std::ifstream from(folder / "samples.bin", std::ios::binary);
  std::ifstream targets_file(folder / "targets.bin", std::ios::binary);
  for (Index i = 0; i < count; ++i) {  // rows lie one after the other
    float* row = found.rows.data() + i * (found.inputs + targets);
    from.read(reinterpret_cast<char*>(row), found.inputs * Index(sizeof(float)));
    targets_file.read(reinterpret_cast<char*>(row + found.inputs), targets * Index(sizeof(float)));
  }
  if (!from || !targets_file) {
    throw std::runtime_error("the data in " + folder.string() + " break off");
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

// OpenNN's Training has the loop over the epochs, and tells when each is over.
inline Result train(opennn::Network& network, Table table, const Options& asked) {
  const Index targets = table.rows.cols() - table.inputs;
  opennn::TabularDataset dataset(table.rows.rows(), opennn::Shape{table.inputs},
                                 opennn::Shape{targets});
  dataset.set_data(std::move(table.rows));
  dataset.set_sample_roles("Training");
  dataset.set_variable_scalers("None");
  opennn::Training training(&network, &dataset);
  training.set_loss("MeanSquaredError");
  training.set_optimization_algorithm("Adam");
  auto* adam = dynamic_cast<opennn::Adam*>(training.get_optimization_algorithm());
  adam->set_learning_rate(1e-3f);
  adam->set_batch_size(asked.batch);
  adam->set_maximum_epochs(asked.warmup + asked.epochs);
  adam->set_gradient_clip_norm(0.0f);
  adam->set_display(false);
  Result found;
  Clock clock;
  adam->post_epoch_callback = [&](Index epoch, float error, float, opennn::Network*) {
    const double took = clock.lap();
    found.losses.push_back(2.0 * error / double(targets));  // its error is half the sum of squares
    if (epoch >= asked.warmup) found.seconds.push_back(took);
    std::cerr << "epoch " << epoch + 1 << ": " << took << " s, loss " << found.losses.back()
              << "\n";
  };
  training.train();
  return found;
}

inline Result predict(opennn::Network& network, const Table& table, const Options& asked) {
  using opennn::ForwardPropagation;
  constexpr auto kInference = opennn::ForwardPropagationMode::Inference;
  std::vector<MatrixR> batches;  // each aligned as OpenNN's kernels want it, outside the clock
  for (Index i = 0; i < table.rows.rows(); i += asked.batch)
    batches.emplace_back(table.rows.middleRows(i, std::min(asked.batch, table.rows.rows() - i))
                             .leftCols(table.inputs));
  ForwardPropagation whole(batches.front().rows(), &network, kInference);
  std::unique_ptr<ForwardPropagation> rest;
  if (batches.back().rows() != batches.front().rows())
    rest = std::make_unique<ForwardPropagation>(batches.back().rows(), &network, kInference);
  Result found;
  for (Index epoch = 0; epoch < asked.warmup + asked.epochs; ++epoch) {
    Clock clock;
    for (MatrixR& batch : batches) {
      ForwardPropagation& pass = batch.rows() == batches.front().rows() ? whole : *rest;
      const opennn::TensorView view(batch.data(), opennn::Shape{batch.rows(), batch.cols()},
                                    opennn::Type::FP32);
      network.forward_propagate({view}, pass, kInference);
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
               const std::function<void(opennn::Network&)>& add_layers, int count, char** words) {
  try {
    const Options asked = options_of(count, words);
    if (asked.threads > 0) omp_set_num_threads(asked.threads);
    opennn::Configuration::instance().set(opennn::Device::CPU, opennn::Type::FP32);
    opennn::Configuration::instance().set_blas(opennn::Blas::Mkl);  // where it was built with it
    Clock clock;
    Table table = table_of(asked.data);
    const double data_seconds = clock.lap();
    opennn::set_seed(asked.seed);
    opennn::Network network;
    add_layers(network);
    network.compile();
    network.set_parameters_glorot();
    if (network.get_parameters_number() != parameters)
      throw std::runtime_error(workload + " has " + std::to_string(parameters) +
                               " parameters; this model has " +
                               std::to_string(network.get_parameters_number()));
    const Index samples = table.rows.rows();
    const Result found =
        asked.infer ? predict(network, table, asked) : train(network, std::move(table), asked);
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
