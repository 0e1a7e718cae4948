#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints how long a program that holds nothing but #include <linnet/linnet.h> takes to compile: the
# median of 5 runs at -O2, in seconds of a processor. The aim is at most 2 s; a busy machine may need
# more, so that nothing fails. CXX chooses the compiler.
set -euo pipefail
export LC_ALL=C TIMEFORMAT='%U %S'
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cxx=${CXX:-g++}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# <linnet/layers.h> is made by CMake (cmake/LinnetLayers.cmake).
mkdir "$folder/linnet"
(cd include && printf '#include <%s>\n' linnet/layer.h linnet/layers/*.h) >"$folder/linnet/layers.h"
printf '#include <linnet/linnet.h>\nint main() {}\n' >"$folder/main.cpp"

times=()
for _ in 1 2 3 4 5; do
  took=$({ time "$cxx" -std=c++20 -O2 -Iinclude "-I$folder" -c "$folder/main.cpp" -o "$folder/main.o"; } 2>&1)
  times+=("$(tail -n 1 <<<"$took" | awk '{ printf "%d", ($1 + $2) * 1000 }')")
done
median=$(printf '%s\n' "${times[@]}" | sort -n | sed -n 3p)
printf '%s: #include <linnet/linnet.h>: %d.%03d s (median of 5, aim 2 s)\n' \
  "$("$cxx" --version | head -n 1)" $((median / 1000)) $((median % 1000))
