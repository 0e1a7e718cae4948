# SPDX-License-Identifier: Apache-2.0
# vgg-cifar10 in Flux: pairs of 3x3 convolutions of 50 and 100, the second one's ReLU behind the
# pooling, dense 512 and 10, dropout between; 3,441,592 parameters.
using Flux
include("protocol.jl")

pair(channels) = [Conv((3, 3), channels[1] => channels[2], relu; pad = SamePad()),
                  Conv((3, 3), channels[2] => channels[2]; pad = SamePad()), MaxPool((2, 2)),
                  x -> relu.(x), Dropout(0.25)]

network() = Chain(pair(3 => 50)..., pair(50 => 100)..., Flux.flatten, Dense(6400 => 512, relu),
                  Dropout(0.5), Dense(512 => 10))

Protocol.run("vgg-cifar10", 3441592, network, Flux.logitcrossentropy, Flux.Momentum(0.01, 0.9))
