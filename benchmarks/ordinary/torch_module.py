# SPDX-License-Identifier: Apache-2.0
"""The networks as PyTorch modules, by name."""
from torch import nn

import torch_further
import torch_networks
from networks import NETWORKS


def module(name):
    """The network of this name in networks.ALL."""
    builders = torch_networks if name in NETWORKS else torch_further
    return nn.Sequential(*getattr(builders, name.replace("-", "_"))())
