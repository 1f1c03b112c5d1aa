#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tests/symbols/check.sh LIBSHOAL.so|BUILD_DIR|- [INCLUDE_DIR [TABLE_DIR]]
#   Compares shmem.h, pshmem.h and libshoal.so with the tables of OpenSHMEM 1.6 next to this script:
#   prototypes, constants, names the header defines, type-generic names, and the library's symbols.
#   "-" leaves the library out. Exits with 0, 1, or 77 when there is no compiler, no nm or no library.
set -u
. "$(dirname "$0")/lib.sh"

inc=${2:-$here/../../include} tables=${3:-$here}
functions=$tables/openshmem-1.6.tsv
constants=$tables/openshmem-1.6-constants.tsv
generics=$tables/openshmem-1.6-generics.tsv
strict=(-Wall -Wextra -pedantic -Werror -I"$inc")

# Every function is declared, and with the specification's type: __typeof__ fails for a missing name,
# the redeclaration for a different type. A handle is a constant and a variable of the same name.
{
    echo '#define SHOAL_NO_GENERICS'
    echo '#include <pshmem.h>'
    awk -F'\t' '!/^#/ && ($9 == "function" || $9 == "pshmem") { print "extern __typeof__(" $1 ") " $1 ";\n" $4 ";" }
                !/^#/ && $9 == "handle" { print $4 "_;\nvoid use_" $1 "(void);\nvoid use_" $1 "(void) { " $1 "_ = " $1 "; }\n#undef " $1 "\nextern " $4 ";" }' "$functions"
} > "$tmp/prototypes.c"

# Every integer constant is usable in #if and has its required value; strings and handles exist.
{
    echo '#include <shmem.h>'
    awk -F'\t' '$2 == "macro/enum integer constant" {
        print "#if !defined " $1 "\n#error " $1 " is missing\n#elif (" $1 ") + 0 < 0\n#error " $1 " is negative\n#endif"
        if ($6 ~ /^[0-9]+$/) print "#if " $1 " != " $6 "\n#error " $1 " is not " $6 "\n#endif" }
        $2 ~ /string|handle value/ { print "#ifndef " $1 "\n#error " $1 " is missing\n#endif" }' "$constants"
    awk -F'\t' '!/^#/ { print "#ifndef " $1 "\n#error generic " $1 " is missing\n#endif" }' "$generics"
    echo 'extern int empty;'
} > "$tmp/constants.c"

for c in "${cc[@]}"; do
    for std in c99 c11 c17; do
        $c -std=$std "${strict[@]}" -fsyntax-only "$tmp/prototypes.c" > "$tmp/out" 2>&1 ||
            { fail "$c -std=$std: prototypes differ from the specification"; head -n 20 "$tmp/out"; }
    done
    for std in c11 c17; do
        $c -std=$std "${strict[@]}" -fsyntax-only "$tmp/constants.c" > "$tmp/out" 2>&1 ||
            { fail "$c -std=$std: constants"; head -n 20 "$tmp/out"; }
        $c -std=$std "${strict[@]}" -c "$here/header_c.c" -o "$tmp/$c.o" > "$tmp/out" 2>&1 ||
            { fail "$c -std=$std: header_c.c"; head -n 20 "$tmp/out"; }
    done
done
for c in ${cxx[@]+"${cxx[@]}"}; do
    for std in c++11 c++14 c++17 c++20; do
        $c -std=$std "${strict[@]}" -c "$here/header_cxx.cc" -o "$tmp/$c.o" > "$tmp/out" 2>&1 ||
            { fail "$c -std=$std: header_cxx.cc"; head -n 20 "$tmp/out"; }
    done
done

# Which typed routines the generic calls became: for each type of each generic one of that C type
# (int64 may have become long), in each of its forms. Deprecated wait_until of C stands for long in C++.
for o in "${cc[@]}" ${cxx[@]+"${cxx[@]}"}; do
    [ -f "$tmp/$o.o" ] || continue
    nm -u "$tmp/$o.o" | awk '{ print $NF }' > "$tmp/used"
    awk -F'\t' -v long_bits="$(getconf LONG_BIT)" '
        BEGIN {
            w = long_bits == 64 ? "long" : "longlong"; uw = long_bits == 64 ? "ulong" : "ulonglong"
            split("int8 schar int16 short int32 int uint8 uchar uint16 ushort uint32 uint", p, " ")
            for (i = 1; i < 13; i += 2) base[p[i]] = p[i + 1]
            base["int64"] = w; base["uint64"] = uw
            base["size"] = long_bits == 64 ? "ulong" : "uint"; base["ptrdiff"] = long_bits == 64 ? "long" : "int"
        }
        FNR == NR { used[$1] = 1; next }
        /^#/ || $3 == "-" { next }
        {
            op = substr($1, 6); n = split($3, t, ","); delete found
            forms = $2 ~ /shmem_ctx_t/ ? 2 : 1
            for (f = 1; f <= forms; f++) for (i = 1; i <= n; i++)
                if (((f == 2 ? "shmem_ctx_" : "shmem_") t[i] op) in used)
                    found[f, t[i] in base ? base[t[i]] : t[i]] = 1
            if ("shmem_wait_until" in used && op == "_wait_until") found[1, "long"] = 1
            for (f = 1; f <= forms; f++) for (i = 1; i <= n; i++)
                if (!((f, t[i] in base ? base[t[i]] : t[i]) in found)) print $1 " for " t[i] (f == 2 ? " with ctx" : "")
        }' "$tmp/used" "$generics" > "$tmp/unselected"
    [ -s "$tmp/unselected" ] && { fail "$o: generics that select nothing:"; head -n 20 "$tmp/unselected"; }
done

# Calls that must not compile. The first lines show that the frame around them does.
refuses() { # COMPILER CODE
    printf '#include <shmem.h>\nstruct s { int x; };\n%s\n' "void f(shmem_ctx_t c, struct s *s, const int *k, float *f, short *h, shmem_team_t t) {
        (void)c; (void)s; (void)k; (void)f; (void)h; (void)t; $2; }" > "$tmp/refuse.$3"
    ! $1 -Werror -I"$inc" -fsyntax-only "$tmp/refuse.$3" > "$tmp/out" 2>&1
}
for c in "${cc[@]}" ${cxx[@]+"${cxx[@]}"}; do
    case $c in *++) k="$c -std=c++11" x=cc ;; *) k="$c -std=c11" x=c ;; esac
    refuses "$k" "shmem_put(c, f, f, 1, 0)" $x && { fail "$k refuses a good call"; head -n 5 "$tmp/out"; continue; }
    while IFS= read -r call; do
        refuses "$k" "$call" $x || fail "$k accepts $call"
    done << 'CALLS'
shmem_put(s, s, 1, 0)
shmem_put(c, s, s, 1, 0)
shmem_p((int *)k == k ? k : k, 1, 0)
shmem_g(s, 0)
shmem_atomic_add(f, 1, 0)
shmem_atomic_add(c, f, 1, 0)
shmem_atomic_and(h, 1, 0)
shmem_and_reduce(t, f, f, 1)
shmem_sum_reduce(t, s, s, 1)
shmem_test(f, SHMEM_CMP_EQ, 1)
shmem_wait_until_all(h, 1, NULL, SHMEM_CMP_EQ, 1)
CALLS
done

# What shmem.h adds to the macros and the compiled names: the specification's, or SHOAL_ / shoal_.
macros '#include <stddef.h>\n#include <stdint.h>\n' > "$tmp/without"
macros '#include <shmem.h>\n' > "$tmp/with"
awk -F'\t' '{ print $1 }' "$constants" "$generics" | sort -u > "$tmp/allowed"
comm -13 "$tmp/without" "$tmp/with" | grep -v '^SHOAL_' | comm -23 - "$tmp/allowed" > "$tmp/foreign"
[ -s "$tmp/foreign" ] && fail "shmem.h defines names the specification does not have: $(tr '\n' ' ' < "$tmp/foreign")"

# The library exports every symbol, the shmem_ names weak, and nothing foreign.
library libshoal.so
if [ -n "$lib" ]; then
    awk -F'\t' '
        FNR == NR { kind[$2] = $1; next }
        /^#/ { next }
        { listed[$1] = 1 }
        !($1 in kind) { print "missing " $1; next }
        $9 == "function" && kind[$1] !~ /^[WV]$/ { print "not weak " $1 }
        END {
            for (s in kind)
                if (!(s in listed) && s !~ /^(shoal_|p?shmemx_|_init$|_fini$|_edata$|_end$|__bss_start$)/)
                    if (s !~ /^__odr_asan/) print "foreign " s
        }' "$tmp/exports" "$functions" > "$tmp/found"
    differences < "$tmp/found"
fi

[ $bad -eq 0 ] && echo "symbols: $(awk -F'\t' '!/^#/' "$functions" | wc -l) symbols, $(awk -F'\t' '!/^#/' "$generics" | wc -l) generic names: all well"
exit $bad
