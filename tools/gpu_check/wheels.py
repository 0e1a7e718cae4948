# SPDX-License-Identifier: Apache-2.0
"""The wheels linnet and linnet-cuda, installed into an empty folder and used from Python."""
import shutil
import sys

from check import ROOT, Failed, LeftOut

FOLDERS = ("wheels", "build/gpu-check/bundle/linnet-gpu/wheels")  # of ROOT
SMOKE = """import linnet as ln, numpy as np
x = np.random.default_rng(0).random((256, 8), dtype=np.float32)
y = x.sum(axis=1, keepdims=True)
trainer = ln.Trainer(ln.Model(ln.sequential(8, [ln.Dense(16), ln.Tanh(), ln.Dense(1)]), device="cuda"))
before = trainer.evaluate((x, y)).loss
trainer.fit((x, y), epochs=5, batch=32)
after = trainer.evaluate((x, y)).loss
assert after < before, (before, after)
print(f"linnet {ln.__version__} from its wheels: loss {before:.4f} to {after:.4f}")
"""


def found():
    """Lists the wheels that came along."""
    return next(filter(None, (sorted((ROOT / folder).glob("linnet*.whl")) for folder in FOLDERS)), [])


def smoke(check):
    """Installs the wheels without a network, and trains by them on the device."""
    if check.rehearsal:
        raise LeftOut("a rehearsal has no wheels")
    if len(found()) < 2:
        raise LeftOut("tools/gpu_bundle.sh found no wheels linnet and linnet-cuda to bring along")
    site = check.work / "site"
    shutil.rmtree(site, ignore_errors=True)
    for command in ([sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps",
                     "--no-compile", "--target", site, *found()],
                    [sys.executable, "-c", SMOKE]):
        ended = check.run(command, env=check.environment(PYTHONPATH=site))
        if ended.status != 0:
            raise Failed(f"{command[2][:3]}: {ended.reason()}")
    check.say(f"  {ended.out.strip()}")
