#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests and measures Linnet on a machine with one GPU and no network, in two calls under 6 minutes:
#
#   tools/gpu_check.sh --call 1     the first; results in benchmarks/results/gpu-<date>
#   tools/gpu_check.sh --call 2     the second, best right after it on the same machine
#   tools/gpu_check.sh PHASE...     these phases; --list names them with their seconds
#   tools/gpu_check.sh --rehearse   with any of these: on the simulated device, tiny sizes, fake peers
#
# It takes the programs of tools/gpu_bundle.sh's archive where that lies in .bundle/, and otherwise
# builds them with what tools/gpu_deps.sh has gathered. tools/gpu_check/ holds the rest, in Python.
set -u
tools=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for python in "${GPU_CHECK_PYTHON:-python3}" /usr/bin/python3; do
  if "$python" -c 'import lzma, tarfile' 2>/dev/null; then
    exec "$python" -B -u "$tools/gpu_check/main.py" "$@"
  fi
done
echo "tools/gpu_check.sh: it needs python3 with lzma and tarfile; none was found" >&2
exit 2
