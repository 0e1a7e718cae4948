# SPDX-License-Identifier: Apache-2.0
"""An ensemble of 32 small networks, trained side by side on noisy points of a curve: its mean is better than one member,
and the members disagree where there were no points."""
import numpy as np

import linnet as ln

random = np.random.default_rng(1)
x = random.uniform(-2, 2, (400, 1)).astype(np.float32)
x = x[np.abs(x[:, 0] - 0.8) > 0.4]  # no points from 0.4 to 1.2
y = (np.sin(3 * x) + random.normal(0, 0.3, x.shape)).astype(np.float32)

network = ln.Network(1, [ln.Dense(32), ln.Tanh(), ln.Dense(32), ln.Tanh(), ln.Dense(1)])
fleet = ln.Fleet(network, 32, seeds=list(range(32)),
                 optimizers=[ln.Adam(rate) for rate in np.geomspace(2e-3, 2e-2, 32)])
history = fleet.fit((x, y), epochs=150, batch=64)

grid = np.linspace(-2, 2, 201, dtype=np.float32)[:, None]
mean = fleet.predict(grid)                              # (201, 1)
members = fleet.predict_members(grid)                   # (32, 201, 1)
low, high = fleet.predict_quantiles(grid, [0.05, 0.95])

errors = np.abs(members - np.sin(3 * grid)).mean(axis=(1, 2))
print(f"mean error of one member {errors.mean():.3f}, of 32 together {np.abs(mean - np.sin(3 * grid)).mean():.3f}")
spread = (high - low)[:, 0]
print(f"90 % of the members lie within {spread[140]:.1f} at x = {grid[140, 0]:.1f}, where no points were, and within "
      f"{spread[50]:.1f} at x = {grid[50, 0]:.1f}")

# Prints:
#   mean error of one member 0.240, of 32 together 0.213
#   90 % of the members lie within 0.6 at x = 0.8, where no points were, and within 0.4 at x = -1.0
