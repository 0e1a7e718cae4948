#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares Linnet's loss curves with PyTorch's; docs/notes/2026-11-21-loss-curves.md says how and shows a run.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

usage() {
  cat <<'USAGE'
Usage: tools/torch/compare.sh [--data DIR] [--python PROGRAM] [--build DIR] [arguments]

  --data DIR        the four MNIST files, .gz (default: shared/data/mnist, here or beside the tree)
  --python PROGRAM  a Python with torch and numpy (default: that of ./dev bench --install-peers, else python3)
  --build DIR       where to build (default: build/release)
  other arguments go to compare_loss_curve.py: --optimizer NAME, --steps N, --batch N, --seed N,
                    --flip STEP,SAMPLE,CHANNEL,Y,X

Exits 0 if every loss agrees to 1e-4, 1 if one does not, 2 if it could not be tried.
USAGE
}
die() { printf 'compare.sh: %s\n' "$*" >&2; exit 2; }

data='' python='' build=$root/build/release arguments=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --data | --python | --build)
      [[ $# -gt 1 ]] || die "$1 needs a value"
      case $1 in --data) data=$2 ;; --python) python=$2 ;; --build) build=$2 ;; esac
      shift
      ;;
    -h | --help) usage; exit 0 ;;
    *) arguments+=("$1") ;;
  esac
  shift
done

[[ $build == /* ]] || build=$PWD/$build

if [[ -z $data ]]; then
  for data in "$root/shared/data/mnist" "$root/../shared/data/mnist"; do
    [[ -d $data ]] && break
  done
fi
[[ -f $data/train-images-idx3-ubyte.gz ]] ||
  die "there is no train-images-idx3-ubyte.gz in '$data'; name a folder with --data"
if [[ -z $python ]]; then
  python=${XDG_CACHE_HOME:-$HOME/.cache}/linnet/peers/torch/bin/python
  [[ -x $python ]] || python=python3
fi
"$python" -c 'import numpy, torch' 2>/dev/null ||
  die "'$python' has no torch and numpy; name another with --python"

if [[ ! -f $build/CMakeCache.txt ]]; then
  (cd "$root" && cmake --preset release -B "$build" --log-level=WARNING >/dev/null) ||
    die "cmake could not configure $build"
fi
cmake --build "$build" --target linnet_step_losses >&2 || die "the build in $build failed"
exec "$python" "$root/tools/torch/compare_loss_curve.py" \
  --program "$build/bin/linnet_step_losses" --data "$data" "${arguments[@]}"
