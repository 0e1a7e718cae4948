# SPDX-License-Identifier: Apache-2.0
"""Classifies texts. Needs a file with a text a line, its label first and the text last, separated by tabs (also
.gz and .xz), e.g. the reviews of IMDB, whose labels are 0 and 1."""
import sys

import linnet as ln

if len(sys.argv) != 2:
    sys.exit("usage: text.py REVIEWS.tsv")
task = ln.text_task(sys.argv[1], seed=1)
for note in task.notes:
    print(note)

model = ln.Model(task.network, seed=1)
history = ln.train(model, task.data, task.training)
print(f"test accuracy {100 * ln.evaluate_metrics(model, task.data.test).accuracy:.1f} %")

predictor = ln.Predictor(model, probabilities=True, dtype="i32")
vocabulary = task.data.train.vocabulary
for text in ("a wonderful film with a great story", "boring from the first minute, a waste of time"):
    best = predictor.classify(ln.encode_text(text, vocabulary, task.length))[0]
    print(f"{text}: {best.label} ({100 * best.probability:.0f} %)")
