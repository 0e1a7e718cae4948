#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints how long a program that holds nothing but #include <linnet/linnet.h> takes to compile: the
# median of 5 runs at -O2. The aim is at most 2 s. CXX chooses the compiler.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cxx=${CXX:-g++}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf '#include <linnet/linnet.h>\nint main() {}\n' >"$folder/main.cpp"

times=()
for _ in 1 2 3 4 5; do
  start=$(date +%s%N)
  "$cxx" -std=c++20 -O2 -Iinclude -c "$folder/main.cpp" -o "$folder/main.o"
  times+=($((($(date +%s%N) - start) / 1000000)))
done
median=$(printf '%s\n' "${times[@]}" | sort -n | sed -n 3p)
printf '%s: #include <linnet/linnet.h>: %d.%03d s (median of 5, limit 2 s)\n' \
  "$("$cxx" --version | head -n 1)" $((median / 1000)) $((median % 1000))
