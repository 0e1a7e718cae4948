# SPDX-License-Identifier: Apache-2.0
"""A text that comes with every Python, the windows that both engines train on, and the sizes of the network."""
import pydoc_data.topics
import time

CONTEXT, LAYERS, WIDTH, HEADS = 128, 4, 128, 4
BATCH = 32
HELD_OUT = 64  # windows at the end of the text
LEARNING_RATE, WEIGHT_DECAY = 1e-3, 1e-2


def now(threads):
    """Seconds; of one thread those that the processor gave it, which others on the machine change little."""
    return time.process_time() if threads == 1 else time.perf_counter()


def text():
    """The pages of Python's reference that help() shows."""
    return "\n".join(page for _, page in sorted(pydoc_data.topics.topics.items()))


def characters(of):
    return sorted(set(of))


def windows(offsets, ids):
    """Ids and those that follow them, (N, CONTEXT) each."""
    import numpy as np  # not needed by run.py

    places = offsets[:, None] + np.arange(CONTEXT)
    return ids[places], ids[places + 1]


def data(path, steps, seed):
    """(characters, windows of `steps` batches, held-out windows)."""
    import numpy as np  # not needed by run.py

    with open(path, encoding="utf-8") as file:
        whole = file.read()
    known = characters(whole)
    places = {character: i for i, character in enumerate(known)}
    ids = np.array([places[character] for character in whole], np.int32)
    end = len(ids) - HELD_OUT * CONTEXT - 1
    drawn = np.random.default_rng(seed).integers(0, end - CONTEXT - 1, steps * BATCH)
    return known, windows(drawn, ids), windows(end + CONTEXT * np.arange(HELD_OUT), ids)
