#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# snippets.sh BUILD_DIR: do the examples of the manual pages and README.md work, and are the
# prototypes of the pages those of the header?
#
# C examples are the .Bd blocks under EXAMPLES in docs/man/*.3, and ```c blocks in README.md. All are
# compiled by oshcc -Wall -Wextra -Werror.
#  - A block with "int main(" is a program: it is run at 2 PEs and must print something and succeed.
#  - A block with an #include and no main is a source file of its own: compiled.
#  - Everything else is a fragment: it becomes the body of a main, between shmem_init and
#    shmem_finalize, and is compiled and linked. What it takes for granted is declared by comment
#    lines before the block, which readers do not see and which go to file scope:
#        .\" C: static double mine[256];
# Shell examples are the blocks under EXAMPLES, and those of lines with "$ ", in docs/man/*.[17].
# They are run, in a folder with README.md's program as hello.c, ring.c and a.out.
# Prototypes are the .Ft and .Fn lines under SYNOPSIS, for every TYPENAME and SIZE of their lists;
# the type-generic ones, which are no functions, are left to the examples. Types of shoal.h are the
# blocks under SYNOPSIS of its pages: the header has the same, but for comments and space.
set -u
# shellcheck source=tests/launch/lib.sh
. "$(dirname "$0")/../launch/lib.sh"
root=$(cd "$here/../.." && pwd)
what=

case $build in *hostile*) skip "nothing here depends on sizes" ;; esac
is_sanitized && skip "done with the other builds: what the pages say is the same"
command -v cc >/dev/null || skip "no C compiler"
[ -e "$build/lib/libshoal.so" ] || skip "$build/lib/libshoal.so is not built"
mkdir "$tmp/c" "$tmp/sh" "$tmp/run"

# Writes $tmp/c/PAGE-N.c and $tmp/sh/PAGE-N.
man_blocks() { # PAGE
    awk -v page="${1##*/}" -v out="$tmp" '
        function end_block() {
            if (is_shell) { file = out "/sh/" page "-" n; printf "%s", block >file }
            else {
                file = out "/c/" page "-" n ".c"
                is_whole = block ~ /#include/
                if (!is_whole)
                    printf "// fragment\n#include <%s.h>\n#include <stdio.h>\n%s" \
                        "int main(void)\n{\nshmem_init();\n",
                        page ~ /^shoal_/ ? "shoal" : "shmem", setup >file
                printf "#line %d \"%s\"\n%s", first, page, block >file
                if (!is_whole)
                    printf "shmem_finalize();\nreturn 0;\n}\n" >file
            }
            close(file)
            setup = ""
        }
        /^\.Sh/ { section = $2; setup = "" }
        /^\.\\" C: / && section == "EXAMPLES" {
            setup = setup "#line " NR " \"" page "\"\n" substr($0, 8) "\n"; next }
        /^\.Bd -literal/ { inside = 1; first = NR + 1; block = ""; prompts = 0; next }
        /^\.Ed/ {
            is_shell = page !~ /\.3$/
            if (section == "EXAMPLES" || (is_shell && prompts)) { n++; end_block() }
            inside = 0; next }
        inside {
            gsub(/\\&/, ""); gsub(/\\-/, "-"); gsub(/\\e/, "\\")
            prompts += sub(/^\$ /, "")
            block = block $0 "\n" }' "$1"
}

readme_blocks() {
    awk -v out="$tmp/c/README.md" '
        /^```c$/ { file = out "-" ++n ".c"; printf "#line %d \"README.md\"\n", NR + 1 >file; next }
        /^```/ { if (file) close(file); file = ""; next }
        file { print >file }' "$root/README.md"
}

# Prints one _Static_assert for every prototype of a page.
prototypes() { # PAGE
    grep -o 'X([a-z0-9_ ]*, [a-z0-9]*)' "$root/include/shoal_types.h" | sort -u |
        awk -v page="${1##*/}" '
        function emit(name, type, i) {
            return "_Static_assert(__builtin_types_compatible_p(__typeof(" name "), " \
                type "), \"" page ": " name "\");"
        }
        function put(i, word, by, type,  name, sig) {
            name = fn[i]; sig = signature[i]
            sub(word, by, name)
            gsub(/TYPE/, type, sig)
            return emit(name, sig)
        }
        # A paragraph of plain text: a list of types or sizes, or what makes the following generic.
        function paragraph(text,  i, j, k, words, ops, no, nw) {
            if (text ~ /^(TYPENAME|SIZE|OP is .*TYPENAME): /) {
                no = 0
                if (text ~ /^OP is /) {
                    ops_text = text
                    sub(/^OP is /, "", ops_text); sub(/ for TYPENAME:.*/, "", ops_text)
                    match(ops_text, / or [a-z]+$/)
                    ops_text = substr(ops_text, 1, RSTART - 1) " " substr(ops_text, RSTART + 4)
                    gsub(/,/, "", ops_text)
                    no = split(ops_text, ops, / +/)
                }
                is_size = text ~ /^SIZE/
                sub(/^[^:]*: /, "", text); sub(/\..*/, "", text)
                nw = split(text, words, / +/)
                for (i = 1; i <= count; i++) {
                    if (gone[i] || (is_size ? fn[i] !~ /SIZE/ : fn[i] !~ /TYPENAME/)) continue
                    if ((fn[i] ~ /_OP_/) != (no > 0)) continue
                    for (j = 1; j <= nw; j++) {
                        if (!is_size && !(words[j] in type_of)) {
                            print "#error \"" page ": unknown TYPENAME " words[j] "\""; continue }
                        line = put(i, is_size ? "SIZE" : "TYPENAME", words[j], type_of[words[j]])
                        if (!no) print line
                        for (k = 1; k <= no; k++) {
                            with = line; gsub(/_OP_/, "_" ops[k] "_", with); print with }
                    }
                    used[i] = 1
                    if (!no) gone[i] = 1
                }
                is_generic = 0
            } else if (text ~ /C11 generic/ && text !~ /^Also/) {
                is_generic = 1
            }
        }
        FNR == NR { # the type table
            split(substr($0, 3, length($0) - 3), pair, ", "); type_of[pair[2]] = pair[1]; next }
        /^\.Sh/ { if (text) paragraph(text); text = ""; inside = $2 == "SYNOPSIS"; next }
        !inside { next }
        /^\.Bd/ { literal = 1 }
        /^\.Ed/ { literal = 0 }
        literal { next }
        /^\./ { if (text) paragraph(text); text = "" }
        /^\.Ft / { ret = substr($0, 5); gsub(/"/, "", ret); sub(/_Noreturn /, "", ret) }
        /^\.Fn / && !is_generic {
            name = $2; args = $0; sub(/^\.Fn [^ ]* */, "", args)
            gsub(/" "/, ", ", args); gsub(/"/, "", args)
            sig = ret "(" args ")"
            if (name !~ /TYPENAME|SIZE/) { print emit(name, sig); next }
            fn[++count] = name; signature[count] = sig }
        !/^\./ { text = text (text ? " " : "") $0 }
        END { for (i = 1; i <= count; i++)
                  if (!used[i]) print "#error \"" page ": no list of types for " fn[i] "\"" }
        ' - "$1"
}

for page in "$root"/docs/man/*.[1-9]; do
    man_blocks "$page"
done
readme_blocks

# The pages' prototypes in one file.
{
    echo '#define SHOAL_NO_GENERICS'
    echo '#include <pshmem.h>'
    echo '#include <shoal.h>'
    for page in "$root"/docs/man/*.3; do prototypes "$page"; done
} >"$tmp/prototypes.c"
asserts=$(grep -c _Static_assert "$tmp/prototypes.c")
what="prototypes of the manual pages"
[ "$asserts" -ge 1500 ] || fail "only $asserts found"
oshcc -Wall -Wextra -Werror -fsyntax-only "$tmp/prototypes.c" >"$tmp/out" 2>"$tmp/err" ||
    { grep -o 'error:.*' "$tmp/err" >"$tmp/out"; : >"$tmp/err"; fail "not those of the header"; }

bad=0
complain() {
    echo "failed: $*"
    head -n 20 "$tmp/err"
    bad=1
}

# Without comments and space, so that the two can be compared.
bare() { sed 's|//.*||' "$@" | tr -d ' \n'; }

header_text=$(bare "$root/include/shoal.h")
types=0
for page in "$root"/docs/man/shoal_*.3; do
    awk -v out="$tmp/type-${page##*/}-" '
        /^\.Sh/ { inside = $2 == "SYNOPSIS" }
        /^\.Bd/ { literal = 1; n++; next }
        /^\.Ed/ { literal = 0 }
        inside && literal && /^$/ { n++; next }
        inside && literal { print >(out n) }' "$page"
done
for type in "$tmp"/type-*; do
    types=$((types + 1))
    [[ $header_text == *"$(bare "$type")"* ]] ||
        { cp "$type" "$tmp/err"; complain "${type##*/type-} is not in shoal.h as it stands there"; }
done
[ $types -ge 10 ] || complain "only $types types of shoal.h found"

programs=0 fragments=0
for source in "$tmp"/c/*.c; do
    name=${source##*/} name=${name%.c}
    link=
    grep -q 'int main(' "$source" || link=-c
    if ! oshcc -Wall -Wextra -Werror $link -o "$tmp/run/$name" "$source" 2>"$tmp/err"; then
        complain "$name does not compile"
    elif [ -z "$link" ] && ! grep -q '^// fragment' "$source"; then
        programs=$((programs + 1))
        oshrun --timeout 20 -n 2 "$tmp/run/$name" >"$tmp/out" 2>"$tmp/err" && [ -s "$tmp/out" ] ||
            complain "$name does not run, or prints nothing"
    else
        fragments=$((fragments + 1))
    fi
done
[ $programs -ge 2 ] && [ $fragments -ge 20 ] ||
    complain "only $programs programs and $fragments fragments found"

cd "$tmp/run" || exit 1
cp "$tmp/c/README.md-1.c" hello.c && cp hello.c ring.c && oshcc -o a.out hello.c || exit 1
shells=0
for script in "$tmp"/sh/*; do
    shells=$((shells + 1))
    timeout 30 bash -euo pipefail "$script" >"$tmp/out" 2>"$tmp/err" </dev/null ||
        { cat "$script"; complain "${script##*/} does not run"; }
done
[ $shells -ge 6 ] || complain "only $shells shell examples found"

[ $bad -eq 0 ] && echo "$programs programs, $fragments fragments, $shells shell examples," \
    "$asserts prototypes, $types types"
exit $bad
