#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Repeats ./dev commands on a bare Debian of another release, in a chroot, on a copy of the checkout.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<'TEXT'
Usage: tools/chroot.sh RELEASE COMMAND...    as root; needs debootstrap, which ./dev chroot installs

RELEASE: bookworm (Debian 12), trixie (Debian 13), ... The chroot is made in .cache/RELEASE the first
time (LINNET_CHROOT=FOLDER: there), and kept with what was built in it. Commands, one after another:

  demo, test, build, lint   that of ./dev
  compilers                 builds everything, warnings as errors, with each compiler of the release that
                            LINNET_COMPILERS names (default: g++-13 g++-14 clang++-19)
  package                   installs the .deb files that ./dev package made into a fresh chroot of its own,
                            builds examples/fashion_mnist.cpp there, runs it and the tests of packaging/debian/tests
  wheels                    installs each wheel of linnet in build/artefacts (./dev release) for a CPython of
                            the release, or, where that is older than 3.11, for Debian's later ones, which
                            are compiled there, and runs packaging/wheels/try_wheel.py with it
  web                       builds the package for JavaScript (./dev web) and copies it to build/web; on trixie
TEXT
}
die() { printf 'tools/chroot.sh: %s\n' "$*" >&2; exit 2; }

# The mirror that this machine's packages come from; nothing, where it is not a Debian.
mirror() {
  command -v apt-get >/dev/null || return 0
  apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    sed -n 's/^Debian|Debian|//p' | head -n 1
}

make_chroot() {
  [[ -e $root/etc/linnet-chroot ]] && return 0
  command -v debootstrap >/dev/null || die "debootstrap is not installed"
  local from
  from=$(mirror)
  mkdir -p "$root"
  debootstrap --variant=minbase "$release" "$root" ${from:+"$from"} >"$root.log" 2>&1 ||
    die "debootstrap could not make $root: $(tail -n 1 "$root.log")"
  touch "$root/etc/linnet-chroot"
}

# The checkout's files as git knows them, changes and new files included, as a repository of their own
# (checks ask git for their names); older builds stay.
copy_checkout() {
  mkdir -p "$root/root/linnet"
  find "$root/root/linnet" -mindepth 1 -maxdepth 1 ! -name build ! -name runs -exec rm -rf {} +
  git init -q "$root/root/linnet"
  git ls-files -z --cached --others --exclude-standard |
    tar --null --files-from=- --ignore-failed-read --create 2>/dev/null |
    tar --extract --no-same-owner --directory "$root/root/linnet"
}

inside() {
  chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/sbin:/usr/bin:/sbin:/bin ${http_proxy:+http_proxy="$http_proxy"} \
    ${CMAKE_BUILD_PARALLEL_LEVEL:+CMAKE_BUILD_PARALLEL_LEVEL="$CMAKE_BUILD_PARALLEL_LEVEL"} \
    bash -c 'cd ~/linnet && "$@"' bash "$@"
}

compilers() {
  local compiler packages
  inside ./dev setup
  for compiler in ${LINNET_COMPILERS:-g++-13 g++-14 clang++-19}; do
    packages=("${compiler/clang++/clang}")
    [[ $compiler == clang* ]] && packages+=("libomp-${compiler##*-}-dev")
    inside apt-get install -y -q --no-install-recommends "${packages[@]}"
    echo "== $compiler"
    inside cmake --preset release -B "build/$compiler" --log-level=WARNING -DLINNET_CUDA=OFF -DLINNET_WERROR=ON \
      -DCMAKE_CXX_COMPILER="$compiler" >/dev/null
    inside cmake --build "build/$compiler" -- -k 0
  done
}

# The first example's numbers stand in its last comment; processors round differently.
package() {
  inside apt-get update -q
  inside apt-get install -y -q --no-install-recommends g++ cmake make pkg-config dataset-fashion-mnist \
    ./build/package/packages/{liblinnet[0-9],liblinnet-dev,linnet_}*.deb
  inside linnet --version
  inside bash -c 'g++ examples/fashion_mnist.cpp $(pkg-config --cflags --libs linnet) -o ../example'
  inside bash -c 'cd .. && ./example' >"$root/root/printed"
  printf '#!/bin/sh\ncat "%s"\n' "$root/root/printed" >"$root/root/repeat"
  chmod +x "$root/root/repeat"
  python3 -B tests/docs/example_output_test.py "$root/root/repeat" examples/fashion_mnist.cpp
  echo "The installed package prints what the example says."
  local test
  for test in command library; do
    inside bash -c 'cd packaging && AUTOPKGTEST_TMP=$(mktemp -d) "debian/tests/$1"' bash "$test"
    echo "Test $test of packaging/debian/tests: pass"
  done
}

# wheels_python NAME: sets python to that CPython of the release, or compiles it.
wheels_python() {
  local name=$1 source="$root/root/$1"
  python=/usr/bin/$name
  # apt-get takes an unknown name for a pattern: python3.13 is postgresql-plpython3-13 on Debian 11.
  if inside apt-cache show "$name" 2>/dev/null | grep -qxF "Package: $name"; then
    inside apt-get install -y -q --no-install-recommends "$name" >/dev/null && return 0
  fi
  python=/usr/local/bin/$name
  [[ ! -x $root$python ]] || return 0
  inside apt-get install -y -q --no-install-recommends gcc libc6-dev make zlib1g-dev libffi-dev >/dev/null
  rm -rf "$source"
  python3 -B packaging/wheels/archives.py "$source" --python "$name"
  inside bash -c 'cd ~/"$1"/source && ./configure -q --without-ensurepip --disable-test-modules &&
    make -s -j "$(nproc)" && make -s altinstall' bash "$name" >"$root.$name.log" 2>&1 ||
    die "$name did not compile; see $root.$name.log"
}

# The wheel of 3.11 is tried with 3.11, that of the stable ABI with the 3.13 of Debian 13.
wheels() {
  local wheel name python files=$root/root/wheels
  inside apt-get update -q >/dev/null
  for wheel in build/artefacts/linnet-*.whl; do
    [[ $wheel == *-cp311-* ]] && name=python3.11 || name=python3.13
    echo "== $wheel on $release with $name"
    wheels_python "$name"
    rm -rf "$files" && mkdir -p "$files"
    cp "$wheel" "$files/"
    python3 -m pip download -q --no-deps --only-binary :all: --python-version "${name#python}" -d "$files" \
      --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 --platform manylinux2014_x86_64 numpy pip
    inside bash -c 'rm -rf ~/try && "$1" -m venv --without-pip ~/try &&
      ~/try/bin/python "$(ls -d ~/wheels/pip-*.whl)/pip" install -q --no-index --find-links ~/wheels linnet &&
      ~/try/bin/python packaging/wheels/try_wheel.py' bash "$python"
  done
}

web() {
  inside apt-get update -q >/dev/null
  inside apt-get install -y -q --no-install-recommends emscripten cmake ninja-build dpkg-dev patch nlohmann-json3-dev \
    libdlpack-dev >/dev/null
  inside ./dev web
  local made=$root/root/linnet/build/web
  mkdir -p build/web/libraries && rm -rf build/web/package build/web/linnet*
  cp -r "$made/package" "$made"/linnet* build/web/
  cp "$made/libraries/sources.json" build/web/libraries/
}

run_all() {
  mount --rbind /dev "$root/dev"  # with its terminals
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sysfs "$root/sys"
  local command
  for command in "${commands[@]}"; do
    case $command in
      compilers) compilers ;;
      package) package ;;
      wheels) wheels ;;
      web) web ;;
      *) inside ./dev "$command" ;;
    esac
  done
}

[[ ${1:-} == -h || ${1:-} == --help ]] && { usage; exit 0; }
[[ $# -ge 2 ]] || { usage >&2; exit 2; }
release=$1
commands=("${@:2}")
[[ $release =~ ^[a-z]+$ ]] || die "expected a Debian release such as trixie; got '$release'"
for command in "${commands[@]}"; do
  [[ $command =~ ^(demo|test|build|lint|compilers|package|wheels|web)$ ]] || die "there is no command '$command'; see --help"
done
[[ $(id -u) == 0 ]] || die "making a chroot needs root"
root=${LINNET_CHROOT:-$PWD/.cache/$release}
if [[ " ${commands[*]} " == *" package "* ]]; then
  [[ ${#commands[@]} == 1 ]] || die "package takes a chroot of its own; name it alone"
  compgen -G 'build/package/packages/*.deb' >/dev/null || die "there are no packages; run ./dev package"
  root=$root-package
  [[ ${LINNET_CHROOT_INSIDE:-} == 1 ]] || rm -rf "$root"
fi
if [[ " ${commands[*]} " == *" wheels "* ]]; then
  compgen -G 'build/artefacts/linnet-*.whl' >/dev/null || die "there are no wheels; run ./dev release"
fi
# Mounts of a namespace of its own are gone with it, however this ends.
if [[ ${LINNET_CHROOT_INSIDE:-} != 1 ]]; then
  LINNET_CHROOT_INSIDE=1 exec unshare --mount --propagation private "$0" "$@"
fi
make_chroot
cp --remove-destination --dereference /etc/resolv.conf "$root/etc/resolv.conf" || true
copy_checkout
if [[ $root == *-package ]]; then
  mkdir -p "$root/root/linnet/build/package"
  cp -r build/package/packages "$root/root/linnet/build/package/"
fi
run_all
