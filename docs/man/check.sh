#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check.sh [TSV]: are the manual pages well-formed and complete?
#  - mandoc finds nothing to warn of
#  - every function of the symbol list and of shoal.h has a page, or a line "alias page" in links.txt
#  - every function of shoal.h is in the synopsis of that page
#  - every name a page gives itself, and every page another one refers to, exists
#  - shoal(7) names every setting and every log topic
# Exit status: 0 good, 1 not good, 77 skipped (the reason is printed).
set -u
cd "$(dirname "$0")" || exit 1
top=../..
tsv=${1:-$top/tests/symbols/openshmem-1.6.tsv}
bad=0

complain()
{
    echo "docs/man: $*" >&2
    bad=1
}

# All names that `man` would find, with their sections: NAME.SECTION, one a line.
all_names()
{
    ls ./*.[1-9] | sed 's|^\./||'
    while read -r alias page; do
        for file in "$page".[1-9]; do
            [ -e "$file" ] && echo "$alias.${file##*.}"
        done
    done <links.txt
}

# Base names: without TYPENAME (and its context form), and with each SIZE.
functions()
{
    awk -F '\t' '
        /^#/ || $9 != "function" { next }
        $8 ~ /<SIZE>/ { print $1; next }
        $8 != "-" { name = $8; sub(/<TYPENAME>_/, "", name); sub(/_ctx_/, "_", name)
                    print name; next }
        { print $1 }' "$1" | sort -u
}

shoal_functions()
{
    sed -n '/^typedef/d; s/^[a-z][a-z0-9_ ]*[ *]\(shoal_[a-z_]*\)(.*/\1/p' "$1" | sort -u
}

missing()
{
    sort -u | comm -23 - "$names"
}

command -v mandoc >/dev/null || { echo "skipped: no mandoc here"; exit 77; }
[ -r "$tsv" ] || { echo "skipped: no symbol list $tsv"; exit 77; }

names=$(mktemp) || exit 1
trap 'rm -f "$names"' EXIT
all_names | sort >"$names"

mandoc -T lint -W warning ./*.[1-9] || complain "mandoc warns of the above"

while read -r alias page; do
    ls "$page".[1-9] >/dev/null 2>&1 || complain "links.txt: $alias leads to $page, which is no page"
done <links.txt
for name in $(uniq -d "$names"); do
    complain "$name is there twice"
done

for name in $(functions "$tsv" | sed 's/$/.3/' | missing); do
    complain "$name: no page and no line in links.txt"
done

header=$top/include/shoal.h
for name in $([ -r $header ] && shoal_functions $header); do
    page=$(sed -n "s/^$name //p" links.txt)
    page=${page:-$name}.3
    if [ ! -e "$page" ]; then
        complain "$name: no page and no line in links.txt"
    elif ! sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/p' "$page" | grep -q "^\.Fn $name "; then
        complain "$page: $name is not in the synopsis"
    fi
done

for name in $(for file in *.[1-9]; do
                  sed -n "/^\.Sh NAME/,/^\.Nd/s/^\.Nm \([^ ]*\).*/\1.${file##*.}/p" "$file"
              done | missing); do
    complain "$name: named by a page, but no line in links.txt"
done

for name in $(awk '{ for (i = 1; i < NF - 1; i++)
                         if ($i ~ /^\.?Xr$/ && $(i + 1) ~ /^(shmem|osh|shoal)/)
                             print $(i + 1) "." $(i + 2) }' ./*.[1-9] | missing); do
    complain "$name: referred to, but not there"
done

table=$top/lib/base/settings_table.h
for name in $([ -r $table ] && grep -o '"\(SHMEM\|SHOAL\)_[A-Z_]*"' $table | tr -d '"'); do
    grep -q "^\.It Ev $name" shoal.7 || complain "shoal.7: $name is missing"
done
log=$top/lib/base/log.h
for topic in $([ -r $log ] && sed -n 's/^ *X([A-Z]*, "\([a-z]*\)").*/\1/p' $log); do
    grep -q "^\.Ql $topic\>" shoal.7 || complain "shoal.7: the log topic $topic is missing"
done

[ $bad -eq 0 ] && echo "docs/man: $(ls ./*.[1-9] | wc -l) pages, $(wc -l <links.txt) links"
exit $bad
