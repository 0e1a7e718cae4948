#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches the headers of cudnn-frontend, by which Linnet asks cuDNN for convolutions, from PyPI into
# .cache/cuda-python/include. Does nothing where they are. Debian has no package of them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The wheel's binary part is not used: one file serves every Python and every processor. From 1.19 on
# the headers want libnvrtc at link time, for an engine that Linnet has no use for.
version=1.18.0
sha256=382ea063b92cbfd5b442cb75ff8422932d78276aecf139e46713ed1ad3d07af4
folder=.cache/cuda-python
stamp=$folder/cudnn-frontend-$version

die() { printf 'tools/setup_cuda.sh: %s\n' "$*" >&2; exit 1; }

[[ -f $stamp && -f $folder/include/cudnn_frontend.h ]] && exit 0
python=$(command -v python3) || die "cudnn-frontend's headers need python3 with pip to be fetched"
"$python" -m pip --version >/dev/null 2>&1 ||
  die "cudnn-frontend's headers come by pip, which $python lacks (Debian: python3-pip)"

mkdir -p "$folder"
work=$(mktemp -d "$folder/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
"$python" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$work" \
  --only-binary :all: --implementation cp --python-version 3.11 --abi cp311 \
  --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 \
  "nvidia-cudnn-frontend==$version" >"$work/log" 2>&1 ||
  die "pip could not fetch nvidia-cudnn-frontend $version: $(tail -n 1 "$work/log")"
wheel=("$work"/*.whl)
echo "$sha256  ${wheel[0]}" | sha256sum --check --status ||
  die "nvidia-cudnn-frontend $version has another checksum than expected: ${wheel[0]##*/}"
"$python" -m zipfile -e "${wheel[0]}" "$work/wheel"
[[ -f $work/wheel/include/cudnn_frontend.h ]] ||
  die "nvidia-cudnn-frontend $version brings no include/cudnn_frontend.h"

rm -rf "$folder/include" "$folder"/cudnn-frontend-*
mv "$work/wheel/include" "$folder/include"
touch "$stamp"
echo "cudnn-frontend $version is in $folder/include."
