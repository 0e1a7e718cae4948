// SPDX-License-Identifier: Apache-2.0
#include "networks/networks.h"

#include <linnet/error.h>

#include <functional>
#include <map>

namespace linnet::workloads {
namespace {

using Maker = std::function<Network(const ImageOptions& options)>;

const std::map<std::string, Maker>& makers() {
  static const std::map<std::string, Maker> all{
      {"densenet121", zoo::densenet121},
      {"densenet169", zoo::densenet169},
      {"flux_cnn", flux_cnn},
      {"gru_imdb", [](const ImageOptions&) { return gru_imdb(); }},
      {"mnist_cnn", mnist_cnn},
      {"resnet18", zoo::resnet18},
      {"resnet34", zoo::resnet34},
      {"resnet50", zoo::resnet50},
      {"resnet101", zoo::resnet101},
      {"rosenbrock_mlp", [](const ImageOptions&) { return rosenbrock_mlp(); }},
      {"vgg_cifar10", vgg_cifar10},
  };
  return all;
}

}  // namespace

Network make(const std::string& name, const ImageOptions& options) {
  const auto found = makers().find(name);
  if (found == makers().end()) {
    throw Error("workloads.json names the network '" + name +
                "', which neither benchmarks/networks/networks.cpp nor the model zoo has");
  }
  return found->second(options);
}

}  // namespace linnet::workloads
