# SPDX-License-Identifier: Apache-2.0
# flux-cnn in Flux: two 5x5 convolutions of 16 and 8, dense 120, 84, 10 with nothing between them,
# as the published network has it; 39,558 parameters.
using Flux
include("protocol.jl")

network() = Chain(Conv((5, 5), 3 => 16, relu), MaxPool((2, 2)), Conv((5, 5), 16 => 8, relu),
                  MaxPool((2, 2)), Flux.flatten, Dense(200 => 120), Dense(120 => 84),
                  Dense(84 => 10))

Protocol.run("flux-cnn", 39558, network, Flux.logitcrossentropy, Flux.Momentum(0.01, 0.9))
