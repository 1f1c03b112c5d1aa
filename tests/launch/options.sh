#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# oshrun's options: all spellings work, wrong ones give a usage line and 2.
. "$(dirname "$0")/lib.sh"

for n in '-n 3' '-np 3' '-c 3' '--np 3' -n3 -np3 --np=3; do
    run oshrun $n sh -c 'echo x'
    expect_rc 0
    expect_out "$(printf 'x\nx\nx')"
done
run oshrun -n 2 -- echo -n
expect_rc 0
run oshrun sh -c 'echo $SHOAL_PE'
expect_out 0
run oshrun -n 2 printf "%s\n" -n # after the program, everything is its own
expect_out "$(printf "%s\n" -n -n)"
# What scripts for other launchers say.
run oshrun --oversubscribe --allow-run-as-root -n 1 --bind-to none --tag-output echo x
expect_rc 0
expect_out '[0] x'
run oshrun --n 1 --prefix /opt/x --use-hwthread-cpus -launcher ssh -iface eth0 --mca btl tcp,self -genvlist HOME,SHOAL_TEST_A,SHOAL_TEST_B echo x
expect_rc 0
expect_out x
run oshrun -n 2 -bind-to none -map-by slot --map-by :OVERSUBSCRIBE --map-by core:oversubscribe true
expect_rc 0
run oshrun -n 2 -bind-to none -map-by slot --map-by ppr:2:node true
expect_rc 0
for way in node Node:oversubscribe NUMA:PE=1 l3cache package:overload-allowed:pe=1 ppr:2:socket ppr:1:node:PE=1; do
    run oshrun -n 2 --map-by $way --bind-to none echo x
    expect_rc 0
    expect_out "$(printf 'x\nx')"
done
for way in ppr:0:node ppr:2:socket ppr:2 ppr: ppr:2: ppr::node moon or '' none slot:moon slot:PE= slot:PE=0 :PE slot: \
    "$(printf %080d 0)"; do
    run oshrun --map-by "$way" true
    expect_rc 2
    grep -q -e '--map-by takes' -e '^oshrun: ppr of anything but node needs -n$' "$tmp/err" || fail "not why"
done
for one in '-npernode 3' '--map-by ppr:3:node' '-N 3'; do # of one host
    run oshrun $one echo x
    expect_out "$(printf 'x\nx\nx')"
done
run oshrun --pernode --bynode --byslot -bynode -rr --rank-by slot -rank-by core --rank-by node echo x
expect_rc 0
expect_out x
run oshrun -genvlist HOME,,PATH true
expect_rc 2
run oshrun -n 2 -l -bind-to none -genv SHOAL_TEST_WORD 'a b' sh -c 'echo "$SHOAL_TEST_WORD"'
expect_rc 0
[ "$(sort "$tmp/out")" = "$(printf '[0] a b\n[1] a b')" ] || fail "other lines"
run oshrun -n 2 -ppn 1 -genvall -env SHOAL_TEST_WORD 'a b' sh -c 'echo "$SHOAL_TEST_WORD"' # -ppn: of hosts
expect_rc 0
expect_out "$(printf 'a b\na b')"
mkdir "$tmp/there"
run oshrun -wdir "$tmp/there" sh -c 'pwd -P' : -wd "$tmp" sh -c 'pwd -P' : sh -c 'pwd -P'
expect_rc 0
sort "$tmp/out" >"$tmp/sorted"
printf '%s\n' "$(cd "$tmp/there" && pwd -P)" "$(cd "$tmp" && pwd -P)" "$(pwd -P)" | sort | cmp -s - "$tmp/sorted" ||
    fail "other directories"
run oshrun -n 2 -wdir "$tmp/nowhere" true
expect_rc 1
is_sanitized t || expect_err_line "cannot start PE 0 of 2: $tmp/nowhere: No such file"
# What the standard of MPI suggests besides ("Portable MPI Process Startup").
mkdir -p "$tmp/bin" "$tmp/empty/prog" # a folder of that name
printf '#!/bin/sh\necho here "$@"\n' >"$tmp/bin/prog"
chmod +x "$tmp/bin/prog"
(cd "$tmp" && run oshrun -n 2 -soft 1:2 -arch "$(uname -m)" -path empty:bin -wdir there prog x : \
    --path "$tmp/bin" prog y && expect_rc 0 && expect_quiet) || exit 1
[ "$(sort "$tmp/out")" = "$(printf 'here x\nhere x\nhere y')" ] || fail "not the programs of -path"
run oshrun -path "$tmp/empty" sh -c true
expect_rc 127
expect_err_line "cannot run sh: it is not in $tmp/empty"
cat >"$tmp/config" <<'EOF'
# two programs \\
-n 2 -x SHOAL_TEST_WORD='a b' \
    sh -c 'echo "$SHOAL_TEST_WORD $1"' sh "#1: \"x"

  -n 1   printf %s\ z\\n ''
  echo y\\
EOF
run oshrun -configfile "$tmp/config"
expect_rc 0
[ "$(sort "$tmp/out")" = "$(printf ' z\na b #1: "x\na b #1: "x\ny\\')" ] || fail "not what the file says"
run oshrun --app "$tmp/config"
[ "$(wc -l <"$tmp/out")" -eq 4 ] || fail "not what the file says"
printf 'echo "x' >"$tmp/config"
run oshrun -configfile "$tmp/config"
expect_rc 2
grep -q 'a line ends inside a quote' "$tmp/err" || fail "not why"
run oshrun -configfile "$tmp/nowhere"
expect_rc 2
grep -q 'nowhere: No such file' "$tmp/err" || fail "not why"
run oshrun -timeout 60 -tag-output --rank-by NODE echo x
expect_rc 0
expect_out '[0] x'
what=usage
for wrong in '--nope sh' '-q' '-n' '-n 0 true' '-n -1 true' '-n 2x true' '-n 99999999 true' \
    '-n 4294967297 true' '--timeout 0 true' '--timeout x true' '--bind moon true' '-x =1 true' '' \
    '-n 2' '-n 2 --' '-configfile /dev/null' '-configfile /dev/null true' '-n 1 -configfile f' '-configfile' '-n 2 --app f' \
    '-arch moon true' '--rank-by moon true' '--rank-by socket true' '--bind core: true' '--bind core:0 true' '--bind core:x true' \
    '--bind :2 true' '--cpus-per-proc 0 true' '-initial-errhandler moon true' '-genv A' '-genv = x true' \
    '-env A' '-env = x true' '-ppn 0 true' '-ppnx true' '-foo true'; do
    run oshrun $wrong
    expect_rc 2
    [ ! -s "$tmp/out" ] || fail "something on stdout"
    [ "$(wc -l <"$tmp/err")" -eq 2 ] || fail "not two lines"
    grep -q '^usage: oshrun' "$tmp/err" || fail "no usage line"
done
run oshrun -help
expect_rc 0
grep -q -- --hostfile "$tmp/out" || fail "not the options"
run oshrun --help
expect_rc 0
expect_quiet
for word in -outfile-pattern --stdin -genvnone --map-by --rank-by -print-rank-map -configfile -path -n --tag --timeout --bind -x -genv --wdir --initial-errhandler --version; do
    grep -q -- "$word" "$tmp/out" || fail "$word is not in --help"
done
run oshrun --version
expect_rc 0
grep -q '^oshrun (Shoal) [0-9]' "$tmp/out" || fail "no version"
