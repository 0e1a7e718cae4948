#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DenseNet-121 (Huang et al., 2017) with 14 answers on (224, 224, 3), binary
cross-entropy, Adam 1e-4; 6,968,206 parameters. Training crops and flips at random."""
import jax
import optax
from flax import linen as nn
from jax import numpy as jnp

import protocol
from blocks import convolution, norm, stem

GROWTH = 32


class Network(nn.Module):
    @nn.compact
    def __call__(self, images, train):
        def active(x):
            return nn.relu(norm(x, train))
        x = protocol.imagenet_pixels(images)
        x = stem(resized_crops(self.make_rng("dropout"), x) if train else x, train)
        for block, count in enumerate((6, 12, 24, 16)):
            if block > 0:
                x = nn.avg_pool(convolution(active(x), x.shape[-1] // 2, 1), (2, 2), (2, 2))
            for _ in range(count):
                new = convolution(active(convolution(active(x), 4 * GROWTH, 1)), GROWTH, 3)
                x = jnp.concatenate((x, new), -1)
        return nn.Dense(14, kernel_init=protocol.GLOROT)(active(x).mean((1, 2)))


def resized_crops(key, x):
    """torchvision's RandomResizedCrop (area 0.08 to 1, ratio 3/4 to 4/3) to the same size, and
    flips, of a batch (N, H, W, C)."""
    keys = jax.random.split(key, 5)

    def draw(i, low, high):
        return jax.random.uniform(keys[i], (len(x),), x.dtype, low, high)
    area, ratio = draw(0, 0.08, 1), jnp.exp(draw(1, -0.2876820724517809, 0.2876820724517809))
    part = jnp.sqrt(jnp.stack((area / ratio, area * ratio), 1)).clip(max=1)  # of height and width
    size = jnp.array(x.shape[1:3], x.dtype)
    corner = jnp.stack((draw(2, 0, 1), draw(3, 0, 1)), 1) * (1 - part) * size

    def crop(image, part, corner, flip):
        image = jax.image.scale_and_translate(image, image.shape, (0, 1), 1 / part, -corner / part,
                                              "linear", antialias=False)
        return jnp.where(flip < 0.5, image[:, ::-1], image)
    return jax.vmap(crop)(x, part, corner, draw(4, 0, 1))


def loss(outputs, targets):
    return optax.sigmoid_binary_cross_entropy(outputs, targets).mean()


if __name__ == "__main__":
    protocol.run(__file__, Network(), loss, optax.adam(1e-4))
