#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a program for Windows under Debian's wine, with a folder of its own for settings: wine.sh PROGRAM ARGUMENT...
# Names of files are UTF-8, whatever the language of this shell is.
here=$(cd "$(dirname "$0")/../.." && pwd)
export LC_ALL=C.UTF-8 WINEPREFIX="${WINEPREFIX:-$here/build/windows/wine}" WINEDEBUG="${WINEDEBUG:--all}" WINEDLLOVERRIDES="mscoree,mshtml="
wine=$(command -v wine64 || echo /usr/lib/wine/wine64)
exec "$wine" "$@"
