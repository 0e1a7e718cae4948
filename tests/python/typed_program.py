# SPDX-License-Identifier: Apache-2.0
"""What mypy --strict must accept of the package besides the examples; run it and nothing is printed."""
from __future__ import annotations

import numpy as np

import linnet as ln


class Records:
    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> list[float]:
        return [float(index), 1.0]


class Stop(ln.Callback):
    def on_epoch(self, report: ln.EpochReport) -> None:
        self.loss = report.train.loss

    def stop_requested(self) -> bool:
        return False


def main() -> None:
    data = ln.Dataset(ln.RecordSource(Records(), record=2), np.zeros(4, np.int32))
    model = ln.Model(ln.sequential(2, [ln.Dense(2, bias=False)]), device="cpu")
    try:
        ln.Trainer(model, optimizer=ln.Adam(learning_rate=1e-2)).fit(data, epochs=1, callbacks=[Stop()])
    except ln.OutOfMemory as error:
        print(error.wanted, error.free)
    except ln.RankError as error:
        print(error.rank)
    assert isinstance(ln.__version__, str) and isinstance(ln.ProgressBar(), ln.Callback)


if __name__ == "__main__":
    main()
