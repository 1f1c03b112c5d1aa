#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tests/symbols/mpi.sh LIBMPI_ABI.so|BUILD_DIR|- [INCLUDE_DIR]
#   Compares mpi.h and libmpi_abi.so with the tables of the MPI 5.0 standard ABI next to this script:
#   prototypes, constants and their types, what the library exports, its soname and what it needs.
#   "-" leaves the library out. Exits with 0, 1, or 77 when there is no compiler, no nm or no library.
set -u
. "$(dirname "$0")/lib.sh"

inc=${2:-$here/../../shim-mpi/include}
functions=$here/mpi-5.0.tsv
constants=$here/mpi-abi-constants.tsv
strict=(-Wall -Wextra -pedantic -Werror -Wno-deprecated-declarations -I"$inc")

# Every function and its twin are declared, with the standard's type: the first line fails for a
# missing name, the second for a different type.
{
    echo '#include <mpi.h>'
    awk -F'\t' '!/^#/ {
        twin = $3; sub(/MPI_[A-Za-z_]*[a-z0-9] *\(/, "P&", twin)
        print "extern __typeof__(" $1 ") " $1 ";\n" $3 ";\nextern __typeof__(P" $1 ") P" $1 ";\n" twin ";" }' "$functions"
} > "$tmp/prototypes.c"

# Every constant has its type and its value; a handle's is an address, which only a program can show.
{
    echo '#include <mpi.h>'
    echo '#include <stdio.h>'
    echo 'static int bad;'
    echo 'static void check(const char *name, long long value, long long want) {'
    echo '    if (value != want && ++bad) printf("%s is %lld, not %lld\n", name, value, want); }'
    awk -F'\t' '!/^#/ { print "static void check_" NR "(void) { " $2 " value = " $1 "; check(\"" $1 "\", (long long)(intptr_t)value, " $3 "); }" }' "$constants"
    echo 'int main(void) {'
    awk -F'\t' '!/^#/ { print "    check_" NR "();" }' "$constants"
    echo '    check("sizeof (MPI_Status)", sizeof(MPI_Status), 32);'
    echo '    check("sizeof (MPI_Aint)", sizeof(MPI_Aint), sizeof(void *));'
    echo '    check("sizeof (MPI_Count)", sizeof(MPI_Count), 8);'
    echo '    check("sizeof (MPI_Offset)", sizeof(MPI_Offset), 8);'
    echo '    return bad != 0; }'
} > "$tmp/constants.c"

# Integer constants serve in #if and case.
{
    echo '#include <mpi.h>'
    awk -F'\t' '$2 == "int" { print "_Static_assert(" $1 " == " $3 ", \"" $1 "\");" }' "$constants"
    echo 'extern int empty;'
} > "$tmp/integers.c"

# Old programs include it too, many of them compiled with -DMPI, some after a header of their own whose guard has the
# obvious name.
printf '#define MPI 1\n#define MPI_H\n#include <mpi.h>\nint main(void) { return MPI_Init(0, 0); }\n' > "$tmp/old.c"
oldest() { # COMPILER LANGUAGE STANDARD
    $1 -x "$2" -std="$3" "${strict[@]}" -pedantic-errors -fsyntax-only "$tmp/old.c" > "$tmp/out" 2>&1 ||
        { fail "$1 -std=$3: mpi.h"; head -n 5 "$tmp/out"; }
}
for c in "${cc[@]}"; do oldest "$c" c c90; done
for c in ${cxx[@]+"${cxx[@]}"}; do oldest "$c" c++ c++98; done

for c in "${cc[@]}"; do
    for std in c99 c11 c17; do
        $c -std=$std "${strict[@]}" -fsyntax-only "$tmp/prototypes.c" > "$tmp/out" 2>&1 ||
            { fail "$c -std=$std: prototypes differ from the standard"; head -n 20 "$tmp/out"; }
    done
    $c -std=c11 "${strict[@]}" -fsyntax-only "$tmp/integers.c" > "$tmp/out" 2>&1 ||
        { fail "$c: integer constants"; head -n 20 "$tmp/out"; }
    $c -std=c11 "${strict[@]}" -o "$tmp/constants" "$tmp/constants.c" > "$tmp/out" 2>&1 &&
        "$tmp/constants" >> "$tmp/out" || { fail "$c: constants"; head -n 20 "$tmp/out"; }
done
for c in ${cxx[@]+"${cxx[@]}"}; do
    for std in c++11 c++20; do
        $c -x c++ -std=$std "${strict[@]}" -fsyntax-only "$tmp/constants.c" > "$tmp/out" 2>&1 ||
            { fail "$c -std=$std: mpi.h or its constants"; head -n 20 "$tmp/out"; }
    done
done

# What mpi.h adds to the macros: the standard's names.
macros '#include <stdint.h>\n' > "$tmp/without"
macros '#include <mpi.h>\n' > "$tmp/with"
comm -13 "$tmp/without" "$tmp/with" | grep -Ev '^(P?MPI_|SHOAL_)' > "$tmp/foreign"
[ -s "$tmp/foreign" ] && fail "mpi.h defines foreign names: $(tr '\n' ' ' < "$tmp/foreign")"

# The library exports every function, strong under its PMPI_ name and weak under the other, and
# nothing else.
library libmpi_abi.so
if [ -n "$lib" ]; then
    awk -F'\t' '
        FNR == NR { kind[$2] = $1; next }
        /^#/ { next }
        { listed[$1] = listed["P" $1] = 1 }
        !($1 in kind) { print "missing " $1 }
        !(("P" $1) in kind) { print "missing P" $1 }
        ($1 in kind) && kind[$1] !~ /^[WV]$/ { print "not weak " $1 }
        END {
            for (s in kind)
                if (!(s in listed) && s !~ /^(_init$|_fini$|_edata$|_end$|__bss_start$|__odr_asan)/)
                    print "foreign " s
        }' "$tmp/exports" "$functions" > "$tmp/found"
    differences < "$tmp/found"
    # A tool that stands before the names of OpenSHMEM or MPI sees the program's calls alone.
    nm -D --undefined-only "$lib" | awk '$NF ~ /^(shmem_|MPI_)/ { print $NF }' > "$tmp/inner"
    [ -s "$tmp/inner" ] && fail "$lib itself calls $(tr '\n' ' ' < "$tmp/inner")"
    if command -v readelf > /dev/null; then
        readelf -d "$lib" > "$tmp/dynamic"
        grep -q 'SONAME.*\[libmpi_abi\.so\.1\]' "$tmp/dynamic" || fail "$lib: its soname is not libmpi_abi.so.1"
    fi
fi

[ $bad -eq 0 ] && echo "symbols: $(grep -vc '^#' "$functions") functions, $(grep -vc '^#' "$constants") constants of the MPI ABI: all well"
exit $bad
