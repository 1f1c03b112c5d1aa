#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Output into files, in front of lines what is wanted, and stderr with stdout.
. "$(dirname "$0")/lib.sh"

cd "$tmp" || exit 1
both='echo out $SHOAL_PE; echo err $SHOAL_PE >&2; printf last'
is() { # FILE TEXT
    [ -e "$1" ] || fail "no file $1"
    [ "$(cat "$1")" = "$2" ] || fail "$1 is not \"$2\" but \"$(cat "$1")\""
}

for n in 1 2; do # one alone, too
    rm -rf deep
    run oshrun -n $n -outfile-pattern 'deep/er/%r.%h.%%' sh -c "$both"
    expect_rc 0
    expect_out ''
    [ "$(sort err)" = "$(for pe in 0 1; do [ $pe = $n ] || echo err $pe; done)" ] || fail "other lines on stderr"
    is "deep/er/0.$(uname -n).%" "$(printf 'out 0\nlast')"
done
is "deep/er/1.$(uname -n).%" "$(printf 'out 1\nlast')"
# One file for all, from the beginning, by whole lines and with tags.
echo before >all
run oshrun -n 3 --tag -outfile-pattern all -errfile-pattern 'err.%r' sh -c "$both"
expect_rc 0
expect_out ''
expect_quiet
for pe in 0 1 2; do
    is err.$pe "[$pe] err $pe"
    grep -Fxq "[$pe] out $pe" all && grep -Fxq "[$pe] last" all || fail "lines are missing"
done
[ "$(wc -l <all)" -ge 5 ] && ! grep -q before all || fail "not the lines of three"
# As Open MPI names them: also on stdout, or not.
for way in '' :copy :nocopy :NOCOPY; do
    rm -rf dir
    run oshrun -n 11 --output-filename dir$way sh -c "$both"
    expect_rc 0
    is dir/1/rank.00/stdout "$(printf 'out 0\nlast')"
    is dir/1/rank.10/stderr 'err 10'
    lines=0
    case $way in '' | :copy) lines=11 ;; esac
    [ "$(grep -c 'out [0-9]' out)" -eq $lines ] && [ "$(grep -c '^err' err)" -eq $lines ] || fail "not $lines lines"
done
rm -rf dir
run oshrun -n 1 --output-filename dir:NOJOBID,nocopy sh -c "$both"
expect_rc 0
expect_out ''
is dir/rank.0/stderr 'err 0'
rm -rf dir*
run oshrun -n 1 --output-filename dir:nojobid,x sh -c "$both" # a name
is dir:nojobid,x/1/rank.0/stderr 'err 0'
run oshrun -n 2 -outfile-pattern /dev/null/x true
expect_rc 1
is_sanitized t || expect_err_line 'cannot start PE 0 of 2: /dev/null/x: Not a directory'
if [ -c /dev/full ]; then
    run oshrun -n 2 -outfile-pattern /dev/full yes
    expect_rc 1
    expect_err_line 'cannot write to /dev/full: No space'
fi
run sh -c 'ulimit -n 25; oshrun -n 4 -outfile-pattern %r true' # two pipes each would do
expect_rc 1
expect_err_line 'ulimit -n is 25 and 4 PEs need 32: their output cannot be put into files'

# Where what a PE writes goes to one place, it stays in order.
for way in '1 --output merge-stderr-to-stdout' '1 --merge-stderr-to-stdout' '2 -merge-stderr-to-stdout'; do
    n=${way%% *}
    run oshrun -n $way sh -c 'for i in 1 2 3; do echo $SHOAL_PE; echo $SHOAL_PE >&2; done'
    expect_rc 0
    expect_quiet
    [ "$(wc -l <out)" -eq $((6 * n)) ] || fail "not all lines"
done
run oshrun -n 2 --output merge,tag sh -c 'for i in 1 3 5; do echo $i; echo $((i + 1)) >&2; done'
expect_rc 0
expect_quiet
for pe in 0 1; do
    [ "$(grep "^.$pe" out | tr -d '\n')" = "[$pe] 1[$pe] 2[$pe] 3[$pe] 4[$pe] 5[$pe] 6" ] || fail "PE $pe's lines are not in order"
done
day='20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]'
run oshrun -n 1 --timestamp-output echo x
grep -Exq "$day x" out || fail "no time"
run oshrun -n 2 --output TAG,timestamp echo x
[ "$(grep -Exc "$day \[[01]\] x" out)" -eq 2 ] || fail "no time and tag"
run oshrun -n 2 -prepend-pattern '<%r %h%%%t> ' sh -c 'echo; echo x >&2'
[ "$(grep -Exc "<[01] $(uname -n)%[0-9]{10,}> x" err)" -eq 2 ] && [ "$(grep -c "^<[01] .*> $" out)" -eq 2 ] || fail "not the pattern"
for wrong in '-prepend-pattern %' '-prepend-pattern %d' '-outfile-pattern %5r' '--output-filename :nocopy' \
    '--output tag,moon' '--output'; do
    run oshrun $wrong true
    expect_rc 2
done
exit 0
