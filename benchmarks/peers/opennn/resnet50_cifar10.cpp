// SPDX-License-Identifier: Apache-2.0
// resnet50-cifar10 in OpenNN: ResNet-50 v1.5 at 32x32; 23,528,522 parameters.
#include "opennn/convolutional_layer.h"
#include "opennn/dense_layer.h"
#include "opennn/flatten_layer.h"
#include "opennn/pooling_layer.h"
#include "protocol.h"

namespace {

using namespace opennn;

class Builder {
 public:
  explicit Builder(NeuralNetwork& network) : network_(network) {}

  // A convolution with a batch norm; `skip` is a layer whose result is added before the activation.
  Index convolve(Index from, Index width, Index filters, Index stride, const char* activation,
                 Index skip = -1) {
    const Shape in = from < 0 ? Shape{32, 32, 3} : shape(from);
    auto layer =
        std::make_unique<Convolutional>(in, Shape{width, width, in[2], filters}, activation,
                                        Shape{stride, stride}, "Same", true, "convolution");
    if (skip >= 0) layer->set_residual(true);
    return add(std::move(layer),
               skip >= 0 ? std::vector<Index>{from, skip} : std::vector<Index>{from});
  }
  Index pool(Index from, Index width, Index stride, Index padding, const char* kind) {
    return add(std::make_unique<Pooling>(shape(from), Shape{width, width}, Shape{stride, stride},
                                         Shape{padding, padding}, kind, "pooling"),
               {from});
  }
  Index add(std::unique_ptr<Layer> layer, const std::vector<Index>& from) {
    network_.add_layer(std::move(layer), from);
    return network_.get_layers_number() - 1;
  }
  Shape shape(Index layer) const { return network_.get_layer(layer)->get_output_shape(); }

 private:
  NeuralNetwork& network_;
};

void add_layers(NeuralNetwork& network) {
  Builder builder(network);
  Index last = builder.pool(builder.convolve(-1, 7, 64, 2, "ReLU"), 3, 2, 1, "MaxPooling");
  constexpr Index kBlocks[] = {3, 4, 6, 3};
  for (Index stage = 0; stage < 4; ++stage) {
    const Index filters = 64 << stage;
    for (Index block = 0; block < kBlocks[stage]; ++block) {
      const Index stride = stage > 0 && block == 0 ? 2 : 1;
      Index inner = builder.convolve(last, 1, filters, 1, "ReLU");
      inner = builder.convolve(inner, 3, filters, stride, "ReLU");
      const Index skip =
          block == 0 ? builder.convolve(last, 1, 4 * filters, stride, "Identity") : last;
      last = builder.convolve(inner, 1, 4 * filters, 1, "ReLU", skip);
    }
  }
  if (const Index width = builder.shape(last)[0]; width > 1)
    last = builder.pool(last, width, 1, 0, "AveragePooling");
  last = builder.add(std::make_unique<Flatten>(builder.shape(last)), {last});
  builder.add(std::make_unique<opennn::Dense>(Shape{2048}, Shape{10}, "Softmax", false, "dense"),
              {last});
}

}  // namespace

int main(int count, char** words) {
  return protocol::run("resnet50-cifar10", 23528522, add_layers, protocol::use_adam, count, words);
}
