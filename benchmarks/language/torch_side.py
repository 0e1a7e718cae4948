# SPDX-License-Identifier: Apache-2.0
"""torch_side.py TEXT STEPS SEED WEIGHTS LENGTH THREADS: trains and runs the same language model in PyTorch, from the weights that
linnet_side.py wrote."""
import json
import sys

import numpy as np
import torch
from torch.nn import functional

import corpus



class Model(torch.nn.Module):
    def __init__(self, characters):
        super().__init__()
        self.embedding = torch.nn.Embedding(characters, corpus.WIDTH)
        self.positions = torch.nn.Embedding(corpus.CONTEXT, corpus.WIDTH)
        self.layers = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(corpus.WIDTH, corpus.HEADS, 4 * corpus.WIDTH, dropout=0, activation="gelu",
                                             batch_first=True, norm_first=True) for _ in range(corpus.LAYERS))
        self.norm = torch.nn.LayerNorm(corpus.WIDTH)
        self.head = torch.nn.Linear(corpus.WIDTH, characters)
        self.mask = torch.nn.Transformer.generate_square_subsequent_mask(corpus.CONTEXT)

    def forward(self, ids):
        steps = ids.shape[1]
        x = self.embedding(ids) + self.positions.weight[:steps]
        for layer in self.layers:
            x = layer(x, src_mask=self.mask[:steps, :steps], is_causal=True)
        return self.head(self.norm(x))

    def step(self, id_, position, caches):
        """The logits after one id, with keys and values kept in `caches`."""
        x = self.embedding.weight[id_] + self.positions.weight[position]
        for layer, cache in zip(self.layers, caches):
            attention = layer.self_attn
            q, k, v = functional.linear(layer.norm1(x), attention.in_proj_weight,
                                        attention.in_proj_bias).view(3, corpus.HEADS, 1, -1)
            cache[0][:, position], cache[1][:, position] = k[:, 0], v[:, 0]
            heard = functional.scaled_dot_product_attention(q, cache[0][:, :position + 1], cache[1][:, :position + 1])
            x = x + attention.out_proj(heard.reshape(-1))
            x = x + layer.linear2(functional.gelu(layer.linear1(layer.norm2(x))))
        return self.head(self.norm(x))


@torch.no_grad()
def generation(model, ids, length, cached, threads):
    """Characters a second. Where the context is full, its last half is read again, as Linnet does."""
    size = corpus.WIDTH // corpus.HEADS
    caches = [torch.zeros(2, corpus.HEADS, corpus.CONTEXT, size) for _ in range(corpus.LAYERS)]
    read = []

    def push(id_):
        if len(read) == corpus.CONTEXT:
            kept = read[corpus.CONTEXT // 2:]
            read.clear()
            for one in kept:
                push(one)
        read.append(id_)
        return model.step(id_, len(read) - 1, caches) if cached else None

    for id_ in ids:
        logits = push(id_)
    begin = corpus.now(threads)
    for _ in range(length):
        if not cached:
            logits = model(torch.tensor([read]))[0, -1]
        logits = push(torch.multinomial(functional.softmax(logits / 0.8, 0), 1).item())
    return length / (corpus.now(threads) - begin)


def main():
    path, weights = sys.argv[1], sys.argv[4]
    steps, seed, length, threads = (int(sys.argv[i]) for i in (2, 3, 5, 6))
    known, batches, held = corpus.data(path, steps, seed)
    text, following = (torch.from_numpy(each).long() for each in batches)
    torch.set_num_threads(threads)
    model = Model(len(known))
    model.load_state_dict({name: torch.from_numpy(value) for name, value in np.load(weights).items()})
    optimizer = torch.optim.AdamW(model.parameters(), lr=corpus.LEARNING_RATE, weight_decay=corpus.WEIGHT_DECAY, fused=True)

    def train(begin, end):
        losses = []
        for step in range(begin, end):
            rows = slice(step * corpus.BATCH, (step + 1) * corpus.BATCH)
            optimizer.zero_grad(set_to_none=True)
            loss = functional.cross_entropy(model(text[rows]).flatten(0, 1), following[rows].flatten())
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        return torch.stack(losses).mean().item()

    train(0, 20)
    begin = corpus.now(threads)
    train(20, steps - 50)
    seconds = corpus.now(threads) - begin
    loss = train(steps - 50, steps)
    model.eval()
    with torch.no_grad():
        held_out = functional.cross_entropy(model(torch.from_numpy(held[0]).long()).flatten(0, 1),
                                            torch.from_numpy(held[1]).long().flatten()).item()
    print(json.dumps({"loss": loss, "held_out": held_out,
                      "tokens_per_second": (steps - 70) * corpus.BATCH * corpus.CONTEXT / seconds,
                      "generated_per_second": generation(model, [0], length, True, threads),
                      "recomputed_per_second": generation(model, [0], length, False, threads)}))


main()
