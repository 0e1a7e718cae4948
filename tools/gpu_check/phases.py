# SPDX-License-Identifier: Apache-2.0
"""The phases of the two calls, in their order, with their seconds; what one leaves over, later ones
may use."""
from collections.abc import Callable
from dataclasses import dataclass, replace

import choices
import correctness
import jobs
import largest
import measure
import profiles
import programs
import wheels
import workloads
from jobs import Size
from measure import Work
from rivals import CAPTURED, COMPILED, EAGER, JAX, REDUCED, TUNED

# Of all phases of a call together: two calls of less than 10 minutes, with what surrounds them, are
# most that a lent machine allows.
SECONDS = {1: 330, 2: 320}


@dataclass(frozen=True)
class Phase:
    """`spare`: it runs in the time that others leave, and is not missed."""
    name: str
    seconds: int
    run: Callable
    about: str
    works: tuple = ()
    spare: bool = False


def rows(name, seconds, about, *works):
    return Phase(name, seconds, measure.rows(*works), about, works)


SIZES = jobs.sizes("gpu")


def work(name, rivals=(EAGER, CAPTURED, COMPILED), early=(COMPILED,), **more):
    return Work(name, SIZES[name], rivals=rivals, early=early, **more)


MNIST = work("mnist-cnn", (EAGER, CAPTURED, COMPILED, JAX), (COMPILED, JAX), rehearsed=True)
MNIST_1024 = replace(MNIST, size=Size(1024, 9216, 2, 20), rivals=(CAPTURED, COMPILED),
                     early=(COMPILED,), rehearsed=False)
RESNET = work("resnet50-cifar10")
RESNET_100 = work("resnet50-cifar100", (CAPTURED,), ())
DENSENET = work("densenet121-xray")
FEATURES = work("resnet50-features:infer", (EAGER, REDUCED), (REDUCED,))
MLP = work("rosenbrock-mlp", (CAPTURED, COMPILED))
OTHERS = [FEATURES if name == FEATURES.name else
          work(name, **workloads.ALL[name.removesuffix(":infer")].get("gpu", {}))
          for name in SIZES
          if name not in (each.name for each in (MNIST, RESNET, RESNET_100, DENSENET, MLP))]
# The other rows of workloads of images, in bf16.
HALF = [replace(each, precision="bf16", early=(), rivals=each.rivals[:2], rounds=2, rehearsed=False)
        for each in (RESNET, *(each for each in OTHERS if each.images()), DENSENET)]


def streamed(each):
    return replace(each, rivals=(), early=(), data="streamed", rehearsed=False)


def predicted(batch, data):
    samples = max(32000, 16 * batch)
    return Work("rosenbrock-mlp:infer", Size(batch, samples, 1, 5),
                (REDUCED,) if data == "resident" else (), early=(), data=data,
                rehearsed=batch == 512 and data == "resident")


def mini_batches(steps):
    """A training at batch 8000 with so many steps an epoch."""
    return replace(MLP, size=Size(8000, 8000 * steps, 1, 40 // steps + 1), rivals=(CAPTURED,),
                   early=())


BEGIN = (Phase("programs", 8, programs.get, "unpacks or builds the programs"),
         Phase("smoke", 6, correctness.smoke, "the device, and a first training on it"))
LATE = Phase("late", 10, measure.late, "rivals that still compiled when their rows were measured",
             spare=True)
CALLS = {
    1: (*BEGIN,
        Phase("correctness", 60, correctness.together,
              "operators, backend, and loss curves against the CPU's"),
        Phase("doubtful", 25, correctness.doubtful, "what luck could hide, a thousand times"),
        Phase("trials", 15, choices.compare, "a node's cost; passes and graphs beside each other"),
        rows("resnet", 90, "resnet50-cifar10, batch 128", RESNET),
        rows("others", 12 * len(OTHERS), ", ".join(each.name for each in OTHERS), *OTHERS),
        rows("mnist-128", 22, "mnist-cnn, batch 128", MNIST),
        rows("mnist-1024", 10, "mnist-cnn, batch 1024", MNIST_1024),
        rows("mnist-streamed", 8, "mnist-cnn, streamed", streamed(MNIST), streamed(MNIST_1024)),
        Phase("profiles", 15, profiles.workloads, "the time of each operator of every workload"),
        Phase("wheels", 8, wheels.smoke, "the wheels linnet and linnet-cuda, installed"),
        LATE,
        Phase("tune", 60, lambda check: measure.tune(check, DENSENET),
              "trials of densenet121-xray, for the second call", spare=True)),
    2: (*BEGIN,
        rows("densenet", 90, "densenet121-xray, batch 64", DENSENET),
        rows("bf16", 115, ", ".join(each.name for each in HALF), *HALF),
        rows("mlp", 50, "rosenbrock-mlp: 1 to 50 steps an epoch, predictions", MLP,
             *map(mini_batches, (50, 1, 12)),
             *(predicted(batch, data) for batch in (8000, 512, 32000, 2000)
               for data in ("resident", "streamed"))),
        rows("cifar100", 15, "resnet50-cifar100, batch 128", RESNET_100),
        Phase("largest", 20, largest.largest(RESNET.name, MLP.name),
              "the largest batch within 6 GB"),
        LATE),
}
# Not in a call: parts of its phases, and what takes too long.
ASKED = (
    Phase("operators", 60, correctness.operators, "every operator's cases on the device"),
    Phase("backend", 20, correctness.backend, "trainings, graphs, streaming, predictors"),
    Phase("numerics", 60, correctness.numerics, "loss curves against the CPU's"),
    Phase("graphs", 16, correctness.graph_modes, "equal bits in every graph mode"),
    Phase("sanitizer", 20, correctness.sanitizer, "own kernels under compute-sanitizer"),
    Phase("kernels", 20, profiles.kernels, "the hottest kernels under ncu"),
    rows("max-autotune", 400, "beside torch.compile's max-autotune",
         replace(RESNET, rivals=(EAGER, TUNED), early=()),
         replace(MNIST, rivals=(EAGER, TUNED), early=(), rehearsed=False)),
)
ALL = tuple({phase.name: phase for call in CALLS.values() for phase in (*call, *ASKED)}.values())
