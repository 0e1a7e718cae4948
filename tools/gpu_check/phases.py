# SPDX-License-Identifier: Apache-2.0
"""The phases in the order of their worth, with their seconds; what one leaves over, later ones may
use."""
from collections.abc import Callable
from dataclasses import dataclass

import choices
import correctness
import jobs
import measure
import profiles
import programs
import workloads
from jobs import Size
from measure import CAPTURED, EAGER, JAX, REDUCED, TUNED, Work

SECONDS = 520  # of all together


@dataclass(frozen=True)
class Phase:
    name: str
    seconds: int
    run: Callable
    about: str


SIZES = jobs.sizes("gpu")
MNIST = Work("mnist-cnn", SIZES["mnist-cnn"], rehearsed=True)
RESNET = Work("resnet50-cifar10", SIZES["resnet50-cifar10"])
MLP = Work("rosenbrock-mlp", SIZES["rosenbrock-mlp"], (EAGER, CAPTURED, TUNED, JAX))
OTHERS = [Work(name, size, **workloads.ALL[name.removesuffix(":infer")].get("gpu", {}))
          for name, size in SIZES.items() if name not in (MNIST.name, RESNET.name, MLP.name)]


def mlp_prediction(batch, rivals=(EAGER, TUNED)):
    samples = max(32000, 16 * batch)
    return Work("rosenbrock-mlp:infer", Size(batch, samples, 1, 5), rivals, rehearsed=batch == 512)


def mini_batches(steps):
    """A training at batch 8000 with so many steps an epoch."""
    return Work("rosenbrock-mlp", Size(8000, 8000 * steps, 1, 40 // steps + 1), (EAGER,), rounds=2)


def other(work, precision, rivals=(EAGER, CAPTURED)):
    return Work(work.name, work.size, rivals, precision, rounds=2)


ALL = (
    Phase("programs", 15, programs.get, "unpacks or builds the programs"),
    Phase("smoke", 10, correctness.smoke, "the device, and a first training on it"),
    Phase("operators", 35, correctness.operators, "every operator's cases on the device"),
    Phase("backend", 10, correctness.backend, "trainings, graphs, streaming, predictors"),
    Phase("numerics", 45, correctness.numerics, "loss curves against the CPU's"),
    Phase("mnist-128", 60, measure.rows(MNIST), "mnist-cnn, batch 128"),
    Phase("resnet", 80, measure.rows(RESNET), "resnet50-cifar10, batch 128"),
    Phase("mlp", 20, measure.rows(MLP), "rosenbrock-mlp, training, batch 8000"),
    Phase("others", 90, measure.rows(*OTHERS), ", ".join(work.name for work in OTHERS)),
    Phase("mnist-1024", 20, measure.rows(Work("mnist-cnn", Size(1024, 9216, 2, 20))),
          "mnist-cnn, batch 1024"),
    Phase("mlp-predict", 25, measure.rows(*map(mlp_prediction, (512, 2000, 8000, 32000))),
          "rosenbrock-mlp, prediction, batches 512 to 32000"),
    Phase("graphs", 16, correctness.graph_modes, "equal bits in every graph mode"),
    Phase("mini-batches", 20, measure.rows(*map(mini_batches, (50, 1, 12, 4))),
          "rosenbrock-mlp, 1 to 50 steps an epoch"),
    Phase("largest", 12, measure.largest_batch, "the largest batch of resnet50-cifar10"),
    Phase("precisions", 20, measure.rows(
        other(MNIST, "bf16"), other(MNIST, "auto"), other(RESNET, "bf16"), other(MLP, "bf16")),
        "bf16, and TF32 as PyTorch sets it by default"),
    Phase("sanitizer", 20, correctness.sanitizer, "own kernels under compute-sanitizer"),
    Phase("kernels", 20, profiles.kernels, "the hottest kernels under ncu"),
)
# Not by themselves: too long for a call that has all the others.
ASKED = (
    Phase("choices", 110, choices.compare, "Linnet beside itself: passes, graphs, order of sums"),
    Phase("profiles", 60, profiles.workloads, "the time of each operator of every workload"),
    Phase("max-autotune", 400, measure.rows(Work(RESNET.name, RESNET.size, (EAGER, TUNED)),
                                            Work(MNIST.name, MNIST.size, (EAGER, TUNED))),
          "resnet50-cifar10 and mnist-cnn beside torch.compile's max-autotune"),
)
