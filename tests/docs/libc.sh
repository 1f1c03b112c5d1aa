#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What is built needs no function that glibc 2.31 does not have: those that only moved between its libraries since, or
# got another version, are named here.
. "$(dirname "$0")/../launch/lib.sh"
command -v nm >/dev/null || skip "nm is missing"
moved='pthread_[a-z_]*|sem_[a-z]*|dl[a-z]*|f?stat|__libc_start_main|__libc_single_threaded|timer_[a-z]*|__isoc23_[a-z]*'
newer() { # FILE
    nm -D --undefined-only --with-symbol-versions "$1" |
        sed -n 's/^ *[Uw] \([A-Za-z0-9_]*\)@\{1,2\}GLIBC_2\.\([0-9]*\)$/\2 \1/p' |
        awk -v moved="^($moved)\$" '$1 > 31 && $2 !~ moved { print $2 " of glibc 2." $1 }'
}
case $build in *-address* | *-thread*) skip "a sanitizer's build has functions of its own" ;; esac
for file in "$build"/lib/*.so "$build/bin/oshrun" "$build/bin/shoal"; do
    nm -D --undefined-only "$file" | grep -q . || fail "nm tells of nothing in $file"
    found=$(newer "$file")
    [ -z "$found" ] || fail "$(basename "$file") needs $(echo $found)"
done
