# SPDX-License-Identifier: BSD-3-Clause
# Read by the scripts of tests/symbols, whose third to sixth lines are their usage.
#   $target: the library, a folder that it is found in, or "-"; $tmp; $cc, $cxx: the compilers
#   fail REASON goes on, skip REASON does not; macros TEXT: the names that are macros after it
#   library NAME: sets $lib, "" for none, and writes what it exports to $tmp/exports, a line KIND NAME
#   differences: fails with a line each of its input, if there are any
here=$(cd "$(dirname "$0")" && pwd)
target=${1:-}
[ -n "$target" ] || { sed -n '3,6p' "$0" | sed 's/^# \{0,1\}//' >&2; exit 2; }
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
bad=0
fail() { echo "symbols: $*"; bad=1; }
skip() { echo "symbols: skipped: $*"; exit 77; }

command -v nm > /dev/null || skip "no nm"
cc=() cxx=()
for c in gcc clang; do command -v $c > /dev/null && cc+=($c); done
for c in g++ clang++; do command -v $c > /dev/null && cxx+=($c); done
[ ${#cc[@]} -gt 0 ] || skip "neither gcc nor clang"
nm -D "$target"/lib/libshoal.so 2>/dev/null | grep -q '__[at]san_' &&
    skip "done with the other builds: a sanitizer's has symbols of its own"
case $target in *-hostile*) skip "done with the other builds: sizes change no names" ;; esac

macros() { # of the headers in $inc
    printf '%b' "$1" | "${cc[0]}" -std=c11 -I"$inc" -dM -E -x c - | awk '{ sub(/\(.*/, "", $2); print $2 }' | sort -u
}

library() {
    lib=
    [ "$target" != - ] || return 0
    lib=$target
    [ -d "$target" ] && lib=$(find "$target" -name "$1" | head -n 1)
    if [ ! -f "$lib" ]; then
        [ $bad -eq 0 ] && skip "the headers agree, but there is no $1 in $target"
        exit 1
    fi
    nm -D --defined-only "$lib" | awk 'NF >= 3 { sub(/@.*/, "", $3); print $2 "\t" $3 }' > "$tmp/exports"
}

differences() {
    sort > "$tmp/differences"
    [ -s "$tmp/differences" ] || return 0
    fail "$lib: $(awk '{ n[$1]++ } END { for (k in n) printf "%d %s ", n[k], k }' "$tmp/differences")"
    head -n 20 "$tmp/differences"
}
