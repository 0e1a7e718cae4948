# SPDX-License-Identifier: Apache-2.0
# rosenbrock-mlp in Flux: dense 1000 -> 1000 tanh -> 1; 1,002,001 parameters.
using Flux
include("protocol.jl")

network() = Chain(Dense(1000 => 1000, tanh), Dense(1000 => 1))

Protocol.run("rosenbrock-mlp", 1002001, network, Flux.mse, Flux.Adam(1f-3))
