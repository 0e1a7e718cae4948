#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DenseNet-121 (Huang et al., 2017) with 14 answers on (224, 224, 3), binary
cross-entropy, Adam 1e-4; 6,968,206 parameters. Training crops and flips at random."""
import keras
import tensorflow as tf
from keras import layers

import protocol
from blocks import active, convolution, stem

GROWTH = 32


class ResizedCrops(layers.Layer):
    """torchvision's RandomResizedCrop (area 0.08 to 1, ratio 3/4 to 4/3) to the same size, and
    flips, of a batch (N, H, W, C), at training."""

    def call(self, x, training=False):
        if not training:
            return x
        count, (rows, columns) = tf.shape(x)[0], x.shape[1:3]

        def draw(low, high):
            return tf.random.uniform([count], low, high)
        area, ratio = draw(0.08, 1), tf.exp(draw(-0.2876820724517809, 0.2876820724517809))
        height = tf.minimum(tf.sqrt(area / ratio), 1)
        width = tf.minimum(tf.sqrt(area * ratio), 1)
        flip = draw(0, 1) < 0.5
        down = self.weights_of(height, draw(0, 1), tf.zeros_like(flip), rows)
        along = self.weights_of(width, draw(0, 1), flip, columns)
        return tf.einsum("nyh,nhwc,nxw->nyxc", down, x, along)

    @staticmethod
    def weights_of(part, place, flip, size):
        """(N, size, size): how much of each old row each new one takes."""
        old = tf.range(size, dtype=tf.float32)
        new = tf.where(flip[:, None], old[::-1], old) + 0.5  # (N, size)
        at = new * part[:, None] + (place * (1 - part))[:, None] * size - 0.5
        at = tf.clip_by_value(at, 0, size - 1)
        return tf.nn.relu(1 - tf.abs(at[:, :, None] - old))


def network():
    images = keras.Input((224, 224, 3), dtype="uint8")
    x = stem(ResizedCrops()(protocol.imagenet_pixels()(images)))
    for block, count in enumerate((6, 12, 24, 16)):
        if block > 0:
            x = layers.AveragePooling2D(2)(convolution(active(x), x.shape[-1] // 2, 1))
        for _ in range(count):
            new = convolution(active(convolution(active(x), 4 * GROWTH, 1)), GROWTH, 3)
            x = layers.Concatenate()([x, new])
    return keras.Model(images, layers.Dense(14)(layers.GlobalAveragePooling2D()(active(x))))


if __name__ == "__main__":
    protocol.run(__file__, network,
                 lambda: keras.losses.BinaryCrossentropy(from_logits=True),
                 lambda: protocol.adam(1e-4))
