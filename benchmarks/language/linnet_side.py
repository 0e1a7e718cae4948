# SPDX-License-Identifier: Apache-2.0
"""linnet_side.py TEXT STEPS SEED WEIGHTS LENGTH THREADS: trains and runs the language model in Linnet; writes its first weights to
WEIGHTS (.npz), from which torch_side.py starts."""
import json
import sys

import linnet as ln
import numpy as np

import corpus


def network(characters):
    std = {"normal": 0.02}
    layers = [ln.Embedding(characters, corpus.WIDTH, weight_init=std, name="embedding"),
              ln.PositionalEmbedding(weight_init=std, name="positions")]
    for i in range(corpus.LAYERS):
        layers.append(ln.TransformerEncoderLayer(corpus.HEADS, feed_forward=4 * corpus.WIDTH, dropout=0, activation=ln.GELU(),
                                                 norm_first=True, causal=True, name=f"layers.{i}"))
    layers += [ln.LayerNorm(name="norm"), ln.Dense(characters, name="head")]
    return ln.Network(corpus.CONTEXT, layers, dtype="i32")


def generation(model, length, threads):
    ln.generate(model, "a", length=2)
    begin = corpus.now(threads)
    ln.generate(model, "The", length=length, seed=1)
    return length / (corpus.now(threads) - begin)


def main():
    path, weights = sys.argv[1], sys.argv[4]
    steps, seed, length, threads = (int(sys.argv[i]) for i in (2, 3, 5, 6))
    known, (text, following), held = corpus.data(path, steps, seed)
    model = ln.Model(network(len(known)), device="cpu", threads=threads, seed=seed)
    np.savez(weights, **{name: np.asarray(model.parameter(name)) for name in model.parameter_names})
    trainer = ln.Trainer(model, optimizer=ln.AdamW(learning_rate=corpus.LEARNING_RATE, weight_decay=corpus.WEIGHT_DECAY))

    def train(begin, end):
        rows = slice(begin * corpus.BATCH, end * corpus.BATCH)
        data = ln.Dataset({"text": text[rows]}, {"next": following[rows]}, classes=known)
        return trainer.fit(data, epochs=1, batch=corpus.BATCH, shuffle=False).epochs[-1].train.loss

    train(0, 20)
    begin = corpus.now(threads)
    train(20, steps - 50)
    seconds = corpus.now(threads) - begin
    loss = train(steps - 50, steps)
    held_out = trainer.evaluate(ln.Dataset({"text": held[0]}, {"next": held[1]}, classes=known)).loss
    print(json.dumps({"loss": loss, "held_out": held_out,
                      "tokens_per_second": (steps - 70) * corpus.BATCH * corpus.CONTEXT / seconds,
                      "generated_per_second": generation(model, length, threads)}))


main()
