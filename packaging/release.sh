# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154,SC2034  # names are of ./dev, which reads this file for `./dev release`
# What is published: each part by the command that makes it, its tests, and a note of both for RELEASE.md.

# noted PATTERN MADE TESTED: artefacts of the part that release makes, for RELEASE.md.
noted() { printf '%s\t%s\t%s\t%s\n' "$part" "$@" >>"$notes"; }

# release_PART: makes and tests a part's artefacts, copies them into $folder and notes what tested them on $system.
release_wheel() {
  local python_preset=manylinux tools='' checks='' name tested="$system: auditwheel, check_wheel.py, twine"
  python_tools && wheel && wheel_checks && "$checks/bin/twine" check --strict build/manylinux/wheels/*.whl || return
  name=$(basename build/manylinux/wheels/*.whl)
  if [[ $name == *-abi3-* ]]; then
    "$checks/bin/abi3audit" --strict "build/manylinux/wheels/$name" || return
    tested+=", abi3audit"
  fi
  cp "build/manylinux/wheels/$name" "$folder/" && echo "$tools/bin/python" >"$notes.python" || return
  noted "$name" "./dev wheel --manylinux --with $python_with" "$tested; not installed, which ./dev chroot RELEASE wheels does"
}

release_sdist() {
  local tools='' checks=''
  python_tools && wheel_checks || return
  "$tools/bin/python" -c 'import scikit_build_core.build as b, sys; b.build_sdist(sys.argv[1])' "$folder" >/dev/null &&
    "$checks/bin/twine" check --strict "$folder"/linnet-*.tar.gz || return
  noted 'linnet-*.tar.gz' './dev release sdist' "$system: twine; not built from"
}

release_packages() {
  local codename tested="$system: not installed"
  codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  package || return
  if [[ $(id -u) == 0 && $system == Debian* ]] && command -v debootstrap >/dev/null; then
    tools/chroot.sh "$codename" package || return
    tested="a fresh chroot of $system: apt-get install, the first example, packaging/debian/tests"
  fi
  ! command -v lintian >/dev/null || tested+="; Lintian finds no error"
  cp build/package/packages/*.deb "$folder/" && noted "*_$(dpkg --print-architecture).deb" './dev package' "$tested"
}

release_static() {
  static_program && check_static_program && cp build/static/artefacts/* "$folder/" || return
  noted 'linnet-*.tar.xz' './dev static' "$system: packaging/static/check_static.py"
}

release_arm64() {
  arm64_packages && check_arm64 command && cp build/arm64/packages/*.deb "$folder/" || return
  noted '*_arm64.deb' './dev arm64' \
    "$(qemu-aarch64-static --version | head -n 1) on $system: packaging/arm64/check_command.py; no ARM64 processor"
}

release_web() {
  local page='not opened in a browser'
  check_web && cp build/web/linnet-*.tgz build/web/linnet.html "$folder/" || return
  ! command -v chromium >/dev/null || page="$(chromium --version) on $system: packaging/web/page_test.mjs"
  noted 'linnet-*.tgz' './dev web' "node $(node --version) on $system: packaging/web/check_web.py"
  noted linnet.html './dev web' "$page"
}

# release_parts [PART...]: makes all parts, or these. A part that fails leaves the others their turn.
release_parts() {
  local folder=build/artefacts notes=$PWD/build/artefacts.notes system part parts=() linked=() lists=()
  (($#)) || set -- python3 sdist packages static arm64 web
  for part in "$@"; do
    case $part in
      sdist | packages | static | arm64 | web | python*) parts+=("$part") ;;
      *) die "there is no artefact '$part'; expected sdist, packages, static, arm64, web or a Python such as python3.12" ;;
    esac
  done
  system="$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)"
  rm -rf "$folder" "$notes.python" && mkdir -p "$folder" && : >"$notes"
  date_of_commit
  for part in "${parts[@]}"; do
    say "== release: $part"
    [[ $part != python* ]] || { python_with=$part part=wheel; }
    # In a shell of its own: some steps exit.
    ( "release_$part" ) || { say "./dev: $part was not made"; printf '%s\tfailed\n' "$part" >>"$notes"; }
  done
  # The folder of wheels comes first: --python is about it.
  ! grep -q $'^wheel\t.*\t' "$notes" || linked+=(.cache/manylinux) lists+=(--python "$(cat "$notes.python")")
  ! grep -q $'^static\t.*\t' "$notes" || linked+=(.cache/static)
  ! grep -q $'^web\t.*\t' "$notes" || lists+=(--sources build/web/libraries)
  ! grep -qE $'^(packages|arm64)\t.*\t' "$notes" || lists+=(--headers)
  python3 -B packaging/wheels/parts.py "${linked[@]}" "${lists[@]}" --release "$folder" && python3 -B packaging/release.py "$folder" "$notes"
}
