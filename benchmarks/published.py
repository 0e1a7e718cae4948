# SPDX-License-Identifier: Apache-2.0
"""Figures that others have published for the workloads, on their own hardware. None of them was
measured by this project, and none can be compared with what it measures on another machine."""
from dataclasses import dataclass

LAPTOP = "RTX 3060 Laptop, WSL2, fp32"
FRAMEWORKS = ("Caffe2", "Chainer", "CNTK", "MXNet Gluon", "MXNet Module", "Keras on CNTK",
              "Keras on TensorFlow", "Keras on Theano", "TensorFlow", "Lasagne", "PyTorch", "Knet",
              "Keras for R")


@dataclass(frozen=True)
class Table:
    workload: str   # as `linnet bench` names it
    title: str      # what was counted, on what
    head: tuple
    rows: tuple


TABLES = (
    Table("mnist-cnn", f"samples/s on an {LAPTOP}; 2 + 40 epochs", ("engine", "batch 128",
                                                                   "batch 1,024"),
          (("OpenNN, resident data", "195–212 k", "397 k"), ("OpenNN, streamed", "114 k", "165 k"),
           ("PyTorch eager, resident", "111 k", "299 k"),
           ("PyTorch eager, streamed", "92 k", "–"), ("TensorFlow Keras fit", "55 k", "134 k"))),
    Table("resnet50-cifar10", f"samples/s on an {LAPTOP}; batch 128", ("engine", "CIFAR-10",
                                                                      "CIFAR-100"),
          (("OpenNN, eight steps in one CUDA graph", "8,433", "8,702"),
           ("OpenNN, one step at a time", "≈ 5,200", "–"), ("torch.compile", "5,268", "5,000"),
           ("PyTorch eager", "3,960", "4,124"))),
    Table("rosenbrock-mlp", f"predictions/s on an {LAPTOP}",
          ("batch", "OpenNN one-shot", "OpenNN resident", "PyTorch resident"),
          (("512", "339 k", "2.19 M", "2.24 M"), ("2,000", "742 k", "3.83 M", "2.49 M"),
           ("8,000", "870 k", "3.99 M", "2.80 M"), ("32,000", "1.02 M", "4.36 M", "2.79 M"))),
    Table("rosenbrock-mlp", f"training samples/s on an {LAPTOP}; batch 8,000",
          ("mini-batches an epoch", "OpenNN", "PyTorch"),
          (("1", "1.77 M", "1.31 M"), ("4", "1.71 M", "1.31 M"), ("12", "1.39 M", "1.31 M"),
           ("50", "0.90 M", "1.31 M"))),
    Table("rosenbrock-mlp", "largest batch in 6 GB", ("engine", "training", "inference"),
          (("OpenNN, one batch buffer", "482,344", "524,288"),
           ("OpenNN, three batch buffers", "306,708", "–"), ("PyTorch", "399,507", "534,773"))),
    Table("flux-cnn", "seconds an epoch of 50,000", ("engine", "GTX 1080", "i7-7500U"),
          (("not named", "0.829", "–"), ("Flux.jl", "–", "82.5"))),
    Table("vgg-cifar10", "seconds for 10 epochs; test accuracy ≈ 0.77", ("engine", "K80", "P100"),
          tuple(zip(FRAMEWORKS, (148, 162, 163, 152, 145, 194, 241, 269, 173, 253, 169, 159, 205),
                    (54, 69, 53, 57, 52, 76, 76, 93, 57, 65, 51, "–", 72)))),
    Table("densenet121-xray", "minutes for training and validation; mean test AUC ≈ 0.81",
          ("engine", "1 V100", "4 V100", "1 V100, synthetic", "4 V100, synthetic"),
          (("PyTorch", 27, 10, 25, 8), ("Keras", 38, 18, 36, 15), ("TensorFlow", 33, 22, 25, 14),
           ("Chainer", 29, 8, 27, 7), ("MXNet Gluon", 29, 10, 28, 8))),
    Table("resnet50-features", "seconds for 1,000 images", ("engine", "K80", "P100"),
          (("Caffe2", 14.1, 7.9), ("Chainer", 9.3, 2.7), ("CNTK", 8.5, 1.6),
           ("MXNet Gluon", "–", 1.7), ("Keras on CNTK", 21.7, 5.9),
           ("Keras on TensorFlow", 10.2, 2.9), ("TensorFlow", 6.5, 1.8), ("MXNet Module", 7.7, 1.6),
           ("PyTorch", 7.7, 1.9), ("Knet", 6.3, "–"), ("Keras for R", 17, 7.4))),
    Table("gru-imdb", "seconds for 3 epochs; test accuracy ≈ 0.86", ("engine", "K80", "P100"),
          (("CNTK", 32, 15), ("Keras on CNTK", 86, 53), ("Keras on TensorFlow", 35, 26),
           ("MXNet", 29, 24), ("PyTorch", 31, 16), ("TensorFlow", 30, 22), ("Knet", 29, "–"),
           ("Keras for R", 35, 25))),
)
