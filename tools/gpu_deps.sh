#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Gathers what Linnet's build needs beside a compiler, CMake and ninja into .bundle/deps.tar.xz, for
# a machine with one GPU and no network: headers, CMake packages and shared libraries of Debian's
# packages (in the versions of this machine), and cudnn-frontend's headers. Needs apt-get with a
# network. tools/gpu_check.sh unpacks and uses it where tools/gpu_bundle.sh's programs do not start.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
archive=$PWD/.bundle/deps.tar.xz
limit_mib=25  # small enough to be copied along with the sources

packages=(libfmt-dev nlohmann-json3-dev libdnnl-dev ocl-icd-opencl-dev libhwy-dev libcli11-dev
          libtomlplusplus-dev libgtest-dev libbenchmark-dev libexpat1-dev libpng-dev libjpeg62-turbo-dev
          libtiff-dev libwebp-dev libutf8proc-dev
          zlib1g-dev liblzma-dev libcurl4-openssl-dev libssl-dev libdlpack-dev)
# They come with the compiler; programs must use the machine's own.
left_out='libc6|libc6-dev|libc-dev-bin|libcrypt1|libcrypt-dev|libnsl.*|libtirpc.*|libgcc-s1'
left_out+='|libgomp1|libstdc\+\+6|libdebconf.*|libperl.*|.*-perl|.*-modules.*'
own_libraries='^(lib(c|m|dl|rt|pthread|resolv|gcc_s|stdc\+\+|gomp)\.so|ld-linux|linux-vdso)'

die() { printf 'tools/gpu_deps.sh: %s\n' "$*" >&2; exit 1; }
for tool in apt-get apt-cache dpkg readelf; do
  command -v "$tool" >/dev/null || die "$tool is missing; this runs on Debian or Ubuntu"
done
[[ $(uname -m) == x86_64 ]] || die "the archive is for x86-64; this machine is $(uname -m)"

tools/setup_cuda.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/debs" "$work/root"

# The -dev packages and the libraries that they stand on.
mapfile -t wanted < <(
  apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
    --no-replaces --no-enhances --no-pre-depends "${packages[@]}" |
    grep -E '^(lib|zlib|ocl-|opencl-|nlohmann|googletest)' | sed 's/:.*//' | sort -u |
    grep -Ev "^($left_out)$")
(cd "$work/debs" && chmod a+rwx . && apt-get download -qq "${wanted[@]}" 2>"$work/log") ||
  die "apt-get could not download: $(tail -n 1 "$work/log") (an old list? apt-get update)"
for deb in "$work"/debs/*.deb; do dpkg -x "$deb" "$work/root"; done

# One tree: what lies in /lib joins /usr/lib, and no link leaves the tree.
cd "$work/root"
if [[ -d lib ]]; then
  cp -a lib/. usr/lib/
  rm -rf lib
fi
libraries=usr/lib/x86_64-linux-gnu
while read -r link; do
  target=$(readlink "$link")
  [[ $target == /* ]] || continue
  target=${target/#\/lib\//\/usr\/lib\/}
  [[ -e .$target ]] && ln -sfr ".$target" "$link"
done < <(find usr -type l)

# Kept: headers, CMake packages, and the libraries that are linked or needed by one that is.
declare -A keep=()
queue=()
for library in fmt dnnl hwy hwy_contrib hwy_test tomlplusplus png16 png jpeg z lzma curl ssl crypto \
               OpenCL benchmark benchmark_main; do
  for file in "$libraries/lib$library.so" "$libraries/lib$library".so.*; do
    [[ -e $file ]] && queue+=("$(basename "$file")")
  done
done
while ((${#queue[@]})); do
  name=${queue[0]}
  queue=("${queue[@]:1}")
  [[ -n ${keep[$name]:-} ]] && continue
  keep[$name]=1
  [[ -e $libraries/$name ]] || die "$name is needed by a library and in no downloaded package"
  keep[$(basename "$(readlink -f "$libraries/$name")")]=1
  while read -r needed; do
    [[ $needed =~ $own_libraries ]] || queue+=("$needed")
  done < <(readelf -d "$libraries/$name" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
done
for file in "$libraries"/*; do
  name=$(basename "$file")
  case $name in
    cmake | libgtest*.a | libgmock*.a | libbenchmark*.a) ;;
    *) [[ -n ${keep[$name]:-} ]] || rm -rf "$file" ;;
  esac
done
find usr/lib -mindepth 1 -maxdepth 1 ! -name x86_64-linux-gnu ! -name cmake -exec rm -rf {} +
find usr -mindepth 1 -maxdepth 1 ! -name include ! -name lib ! -name share -exec rm -rf {} +
[[ -d usr/share ]] && find usr/share -mindepth 1 -maxdepth 1 ! -name cmake -exec rm -rf {} +

cp -a "$OLDPWD/.cache/cuda-python/include/." usr/include/
mkdir -p "$(dirname "$archive")"
tar -C usr --owner=0 --group=0 -cf - . | xz -9 -T1 >"$archive.new"
mv "$archive.new" "$archive"
size=$(du -m --apparent-size "$archive" | cut -f1)
((size < limit_mib)) || die "$archive has $size MiB; expected less than $limit_mib"
echo ".bundle/deps.tar.xz: $size MiB of ${#wanted[@]} packages."
