// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/zoo.h>

#include <string>
#include <vector>

/// The networks of the benchmarks, which others have published as examples; what people look for by
/// name is in linnet/zoo.h.
namespace linnet::workloads {

using zoo::ImageOptions;

/// Pixels -> conv 16 3x3 same, ReLU -> max pool 2 -> flatten -> dense 10, by default on (28, 28,
/// 1). 31,530 parameters.
Network mnist_cnn(const ImageOptions& options = {.sample = {28, 28, 1}});

/// Returns the convolutional example of Flux.jl: pixels -> conv 16 5x5, ReLU -> max pool 2 -> conv
/// 8 5x5, ReLU -> max pool 2 -> flatten -> dense 120 -> dense 84 -> dense 10, with no activation
/// between the dense layers. 39,558 parameters.
Network flux_cnn(const ImageOptions& options = {});

/// Returns the small VGG of the "deep learning frameworks" comparison: pixels -> twice (conv 3x3
/// same, ReLU
/// -> conv 3x3 same -> max pool 2 -> ReLU -> dropout 0.25), of 50 and of 100 filters -> flatten ->
/// dense 512, ReLU -> dropout 0.5 -> dense 10. 3,441,592 parameters. Glorot uniform initialisation.
Network vgg_cifar10(const ImageOptions& options = {});

/// zoo::mlp(1000, {1000}, Tanh{}, 1): 1,002,001 parameters.
Network rosenbrock_mlp();

/// zoo::gru_text() with its defaults: 3,818,302 parameters.
Network gru_imdb();

/// Makes the network that workloads.json calls `name`: one of these, or of the zoo. Networks
/// without images take no options. Throws Error for an unknown name.
Network make(const std::string& name, const ImageOptions& options);

/// Returns the text of workloads.json, as it was when the program was built.
const char* table();

}  // namespace linnet::workloads
