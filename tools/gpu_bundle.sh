#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes .bundle/linnet-gpu.tar.xz: all that tools/gpu_check.sh needs on a machine with one GPU and
# no network, so that nothing must be built there: the command, the CUDA plug-in for sm_90 (and
# PTX), the device tests, every library that is neither the system's nor NVIDIA's, the rivals'
# programs, and the script itself. `linnet bench` makes the data. Run paths of $ORIGIN find the
# libraries. Needs nvcc, cuDNN and patchelf, and a glibc no newer than the other machine's.
# Wheels of `./dev wheel --with python3.12` and `./dev wheel --cuda` go along where there are any.
# Arguments go to CMake.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
archive=.bundle/linnet-gpu.tar.xz
most_bytes=50000000
build=build/bundle
# Found on every machine with a compiler or with CUDA; programs must use the machine's own.
systems='^(lib(c|m|dl|rt|pthread|resolv|gcc_s|stdc\+\+)\.so|ld-linux|linux-vdso)'
nvidias='^lib(cuda|cublas|cudnn|nvrtc|nvJitLink|nvidia)'

die() { printf 'tools/gpu_bundle.sh: %s\n' "$*" >&2; exit 1; }
for tool in cmake ninja patchelf strip xz; do
  command -v "$tool" >/dev/null || die "$tool is missing (a Debian package)"
done

tools/setup_cuda.sh
cmake --preset release -B "$build" --log-level=WARNING -DLINNET_CUDA=ON -DLINNET_LOAD_ONEDNN=OFF \
  "-DLINNET_CUDA_CODE=arch=compute_90,code=[sm_90,compute_90]" "$@" >/dev/null
mapfile -t tests < <(ninja -C "$build" -t targets all |
                     sed -n 's|^bin/\([a-z0-9_]*_test_cuda\): .*|\1|p' | sort -u)
[[ ${#tests[@]} -gt 0 ]] || die "CMake knows no test of a device; is there an nvcc?"
ninja -C "$build" linnet_command linnet_cuda_plugin "${tests[@]}"

work=$(mktemp -d "$PWD/build/bundle.XXXXXX")
trap 'rm -rf "$work" "$archive.new"' EXIT
root=$work/linnet-gpu
mkdir -p "$root"/{bin,lib,tools,benchmarks/peers,benchmarks/results}
cp "$build/bin/linnet" "${tests[@]/#/$build/bin/}" "$root/bin"
cp -L "$build/lib/liblinnet_cuda.so" "$root/lib"

# needed FILE...: the libraries that they load, as lines of name and path.
needed() { ldd "$@" | awk '/=> \// {print $1, $3}' | sort -u; }
missing=$(ldd "$root"/bin/* "$root"/lib/* | awk '/not found/ {print $1}' | sort -u |
          grep -Ev "$nvidias" || true)
[[ -z $missing ]] || die "these libraries were not found: $missing"
while read -r name path; do
  [[ $name =~ $systems || $name =~ $nvidias || -e $root/lib/$name ]] ||
    cp -L "$path" "$root/lib/$name"
done < <(needed "$build/bin/linnet" "${tests[@]/#/$build/bin/}" "$build/lib/liblinnet_cuda.so")
chmod u+w "$root"/lib/* "$root"/bin/*
strip --strip-unneeded "$root"/lib/* "$root"/bin/*
patchelf --set-rpath "\$ORIGIN/../lib" "$root"/bin/*
patchelf --set-rpath "\$ORIGIN" "$root"/lib/*

cp -r tools/gpu_check.sh tools/gpu_check tools/gpu_report.py "$root/tools"
cp benchmarks/*.py benchmarks/workloads.json "$root/benchmarks"
cp -r benchmarks/peers/{common,torch,jax} "$root/benchmarks/peers"
[[ -d benchmarks/results/gpu ]] && cp -r benchmarks/results/gpu "$root/benchmarks/results"
wheels=(build/*/wheels/linnet*.whl)
# A wheel is a ZIP archive: stored without compression, xz makes less of it.
[[ -e ${wheels[0]} ]] && mkdir "$root/wheels" && python3 - "$root/wheels" "${wheels[@]}" <<'PYTHON'
import pathlib
import sys
import zipfile

for wheel in sys.argv[2:]:
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(
            pathlib.Path(sys.argv[1], pathlib.Path(wheel).name), "w", zipfile.ZIP_STORED) as new:
        for entry in old.infolist():
            new.writestr(zipfile.ZipInfo(entry.filename, entry.date_time), old.read(entry))
PYTHON
cp LICENSE "$root"
find "$root" -name __pycache__ -prune -exec rm -rf {} +
git rev-parse HEAD >"$root/commit" 2>/dev/null || rm -f "$root/commit"

mkdir -p .bundle
tar -C "$work" --sort=name --owner=0 --group=0 -cf - linnet-gpu | xz -9 -T1 >"$archive.new"
mv "$archive.new" "$archive"
printf '%s\n' "Contents, bytes unpacked:"
(cd "$root" && du -ab --apparent-size bin lib | sort -rn | awk '{printf "%12d  %s\n", $1, $2}')
(cd "$root" && du -sb --apparent-size tools benchmarks | awk '{printf "%12d  %s\n", $1, $2}')
size=$(stat -c %s "$archive")
printf '%s: %d bytes, of %d unpacked.\n' "$archive" "$size" "$(du -sb "$root" | cut -f1)"
((size <= most_bytes)) || die "$archive has more than $most_bytes bytes"
