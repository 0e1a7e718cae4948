# SPDX-License-Identifier: Apache-2.0
# mnist-cnn in Flux: conv 16 3x3 same, ReLU, max pool 2, dense 10; 31,530 parameters.
using Flux
include("protocol.jl")

network() = Chain(Conv((3, 3), 1 => 16, relu; pad = SamePad()), MaxPool((2, 2)), Flux.flatten,
                  Dense(14 * 14 * 16 => 10))

Protocol.run("mnist-cnn", 31530, network, Flux.logitcrossentropy, Flux.Adam(1f-3))
