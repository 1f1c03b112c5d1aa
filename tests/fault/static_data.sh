#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Symmetric static data, however the program was compiled and linked and wherever it is loaded:
# static/main.c with gcc and clang, -O0 and -O2, PIE and not, libshoal shared and static, address
# randomization on and off; and with the linkers and layouts that put .data elsewhere.
. "$(dirname "$0")/../launch/lib.sh"

src=$here/static
command -v oshcc >/dev/null && [ -e "$build/lib/libshoal.a" ] || skip "oshcc or libshoal.a is not built"
oshcc --show -c x.c | grep -q fsanitize && skip "a sanitizer's build: its programs have other layouts"
left_out= compilers=
for cc in gcc clang; do
    if command -v $cc >/dev/null; then compilers="$compilers $cc"; else left_out="$left_out, $cc"; fi
done
[ -n "$compilers" ] || skip "neither gcc nor clang"
fixed='setarch -R'
$fixed true 2>/dev/null || { fixed= left_out="$left_out, setarch -R"; }

# NAME CC FLAGS...: links with the shared library, or with libshoal.a when NAME starts with a_.
link() {
    name=$1 cc=$2
    shift 2
    set -- "$@" ${plugin:+-DPLUGIN}
    case $name in
        a_*) SHMEM_CC=$cc oshcc "$@" -c "$src/main.c" -o "$tmp/main.o" &&
            SHMEM_CC=$cc oshcc "$@" -c "$src/other.c" -o "$tmp/other.o" &&
            $cc "$@" "$tmp/main.o" "$tmp/other.o" "$build/lib/libshoal.a" $plugin -pthread -ldl \
                -o "$tmp/$name" ;;
        *) SHMEM_CC=$cc oshcc "$@" "$src/main.c" "$src/other.c" $plugin -o "$tmp/$name" ;;
    esac >"$tmp/cc" 2>&1
}

linked() { # the same, and it must be possible
    link "$@" || { cat "$tmp/cc"; fail "does not compile: $*"; }
    [ ! -s "$tmp/cc" ] || { cat "$tmp/cc"; fail "the compiler complains: $*"; }
}

count=0
runs() { # NAME [NPES]
    for setting in '' "$fixed"; do
        # shellcheck disable=SC2086
        run $setting oshrun -n "${2:-3}" --timeout 20 "$tmp/$1"
        expect_rc 0
        expect_quiet
        count=$((count + 1))
        [ -n "$fixed" ] || break
    done
}

first=${compilers# }
first=${first%% *}
$first -shared -fPIC -o "$tmp/libplugin.so" "$src/plugin.c" || fail "no shared library"
with_plugin="-L$tmp -Wl,-rpath,$tmp -lplugin" # a shared library of the program's own
plugin=$with_plugin
for cc in $compilers; do
    for opt in -O0 -O2; do
        for pie in '-fPIE -pie' '-fno-pie -no-pie'; do
            for lib in so a; do
                # shellcheck disable=SC2086
                linked ${lib}_prog $cc -Wall -Wextra -Wno-unused-command-line-argument $opt $pie
                what="$cc $opt $pie $lib"
                runs ${lib}_prog
            done
        done
    done
done

# Other layouts: a segment that starts mid-page, or that has no RELRO part, or more of it.
for flags in -Wl,-z,norelro -Wl,-z,relro,-z,now -Wl,-z,noseparate-code -fuse-ld=bfd -fuse-ld=gold \
    -fuse-ld=lld '-fuse-ld=lld -Wl,-z,norelro' '-fuse-ld=gold -Wl,-z,norelro' -static -static-pie; do
    plugin=$with_plugin
    case $flags in -static*) plugin= ;; esac
    # shellcheck disable=SC2086
    if link so_layout $first -O2 $flags; then
        runs so_layout
    else
        left_out="$left_out, $first $flags"
    fi
done
plugin=

# 64 MiB of zeroes of which two pages are touched take no memory.
peak() { # NAME -> the largest of any PE, KB
    run oshrun -n 2 --timeout 20 "$tmp/$1" peak
    expect_rc 0
    expect_quiet
    peak=$(sort -n "$tmp/out" | tail -n 1)
}
for lib in so a; do
    linked ${lib}_small $first -O2
    linked ${lib}_big $first -O2 -DBIG
    peak ${lib}_small
    small=$peak
    peak ${lib}_big
    [ "$small" -gt 0 ] && [ $((peak - small)) -lt 8192 ] ||
        fail "64 MiB of .bss take $((peak - small)) KB: $peak against $small"
done

# Different programs in one job, also when they differ in a constant only.
linked so_other $first -O2 -DBIG
linked so_small $first -O2 -Wl,--build-id
linked so_value $first -O2 -Wl,--build-id -DSEED=9
for other in so_other so_value; do
    printf '#!/bin/sh\n[ "$SHOAL_PE" = 1 ] && exec "%s"\nexec "%s"\n' "$tmp/$other" "$tmp/so_small" \
        >"$tmp/mixed"
    chmod +x "$tmp/mixed"
    run oshrun -n 2 --timeout 20 "$tmp/mixed"
    [ "$rc" -ne 0 ] && [ "$rc" -lt 124 ] || fail "exit status $rc, expected a refusal"
    sed -i '/^shoal: shmem_init: the library cannot start; the line above says why$/d' "$tmp/err"
    expect_err_line '^shoal: PE 1 and PE 0 run different programs \(.*\): start one executable, or set SHOAL_STATIC=0$'
done

# Data that is not to be moved stays private.
run env SHOAL_STATIC=0 oshrun -n 2 --timeout 20 "$tmp/so_small"
expect_rc 1
grep -q 'failed: data_int is not symmetric' "$tmp/err" || fail "SHOAL_STATIC=0 changes nothing"
[ $count -gt 0 ] || fail "nothing was run"
[ -z "$left_out" ] || skip "not to be had here${left_out}; all the rest passed"
exit 0
