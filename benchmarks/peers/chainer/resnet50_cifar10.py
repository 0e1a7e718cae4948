#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 v1.5 (He et al., 2016; the stride in the 3x3) on (32, 32, 3); 23,528,522 parameters."""
from blocks import active, convolution, norm, pooled, stem
from protocol import chainer, pixels, run

F, L = chainer.functions, chainer.links


class Bottleneck(chainer.Chain):
    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        with self.init_scope():
            self.body = chainer.Sequential(
                convolution(inputs, width, 1), active(width),
                convolution(width, width, 3, stride), active(width),
                convolution(width, outputs, 1), norm(outputs, silent=True))  # as Linnet starts
            self.shortcut = F.identity if stride == 1 and inputs == outputs else \
                chainer.Sequential(convolution(inputs, outputs, 1, stride), norm(outputs))

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x))


def network(classes=10, scaled=pixels):
    """Ends in 2,048 features if there are no classes."""
    found, inputs = chainer.Sequential(scaled, stem()), 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            found.append(Bottleneck(inputs, 64 << stage, 2 if stage > 0 and block == 0 else 1))
            inputs = 256 << stage
    found.append(pooled)
    if classes:
        found.append(L.Linear(inputs, classes, initialW=chainer.initializers.Normal(0.01)))
    return found


if __name__ == "__main__":
    run(__file__, network, F.softmax_cross_entropy)
