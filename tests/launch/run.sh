#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tests/run itself, with a launcher and a program that are scripts: it counts what passed, failed and was
# skipped, keeps nothing of runs that it has told of, and ends when one is gone without a word.
. "$(dirname "$0")/lib.sh"

fake=$tmp/build
mkdir -p "$fake/bin" "$fake/tests/api" "$tmp/own"
cat >"$fake/bin/oshrun" <<'END'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do
    [ "$1" != -n ] || export PES="$2"
    shift 2
done
exec "$@"
END
cat >"$fake/tests/api/program" <<'END'
#!/bin/sh
ls "$TMPDIR"/* | wc -l >>"$FILES"
case $PES:${1-} in
2:*) echo "skipped: two" && exit 77 ;;
4:*) exit 1 ;;
5:*) # in the place of a kernel that is out of memory: its subshell, above timeout
    kill -KILL "$(sed -n 's/^PPid:.//p' "/proc/$PPID/status")" && sleep 1 ;;
esac
END
chmod +x "$fake/bin/oshrun" "$fake/tests/api/program"
export TMPDIR="$tmp/own" FILES="$tmp/files"
runner=$here/../run

run "$runner" "$fake" -j 1 -n "1 2 3 4" api/program
expect_rc 1
[ "$(tail -n 1 "$tmp/out")" = "2 passed, 1 failed, 1 skipped" ] || fail "not so many"
run "$runner" "$fake" -j 2 -n "1 3" -N 2 -S 1-20 api/program
expect_rc 0
[ "$(tail -n 1 "$tmp/out")" = "40 passed, 0 failed, 0 skipped" ] || fail "not so many"
[ "$(sort -n "$FILES" | tail -n 1)" -le 12 ] || fail "files of all runs are kept"
run timeout 20 "$runner" "$fake" -j 1 -n "1 5 3" api/program
expect_rc 1
[ "$(tail -n 1 "$tmp/out")" = "2 passed, 1 failed, 0 skipped" ] || fail "not so many"
run "$runner" "$fake" -n "1 3" -u 1 api/program
expect_rc 0
[ "$(tail -n 1 "$tmp/out")" = "0 passed, 0 failed, 2 skipped" ] || fail "not so many are left out"
exit 0
