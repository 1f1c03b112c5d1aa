#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Wrong arguments: one line that names the call, the argument, the PE and what to do, and the end of
# the job. bad_args and bad_names hold the tables for a single PE; here they are run, and then a few
# mistakes are made by PE 1 of two.
. "$(dirname "$0")/../launch/lib.sh"
case $build in *thread*) skip "done with the other builds: no call gets as far as to another thread" ;; esac

for program in bad_args bad_names bad_job; do
    [ -x "$build/tests/fault/$program" ] || skip "$build/tests/fault/$program is not built"
done
ulimit -c 0
export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
unset SHOAL_CHECK SHOAL_DIRECT SHOAL_STATIC SHMEM_SYMMETRIC_SIZE
failed=0
for program in bad_args bad_names; do # prints what is not as expected
    "$build/tests/fault/$program" >"$tmp/$program" 2>&1 || { failed=1; cat "$tmp/$program"; }
done

# MISTAKE PATTERN: what the line says after "PE 1: "
job() {
    for direct in 1 0; do
        run env SHOAL_DIRECT=$direct oshrun -n 2 --timeout 20 "$build/tests/fault/bad_job" "$1"
        expect_rc 1
        expect_err_line "^shoal: PE 1: $2\$"
    done
}
at='0x[0-9a-f]+'
same=': all PEs must call it with the same arguments'
job wrong_pe 'shmem_long_p: argument pe is 2, there are PEs 0 to 1'
job private_dest "shmem_long_p: argument dest \\($at\\) is not symmetric: use memory from .*"
job past_the_end \
    "shmem_long_put: argument dest: the [0-9]+ bytes from $at reach beyond symmetric memory"
job private_source "shmem_long_sum_reduce: argument source \\($at\\) is not symmetric.*"
job wrong_root 'shmem_long_broadcast: argument PE_root is 2, the team has PEs 0 to 1'
job nothing_from_nowhere 'shmem_collect: argument source is NULL'
job outside \
    'shmem_barrier: called on a PE outside the active set: PE_start 0, logPE_stride 0, PE_size 1'
job context_pe "shmem_ctx_long_p: argument pe is 5, the context's team has PEs 0 to 1"
job free_twice \
    "shmem_free: no block in use starts at $at: freed twice, or not what shmem_malloc returned"
job malloc_size "shmem_malloc\\(16\\) here, but shmem_malloc\\(8\\) on PE 0$same"
job realloc_size "shmem_realloc\\(0, 5000\\) here, but shmem_realloc\\(0, 4000\\) on PE 0$same"
job free_other "shmem_free\\(512\\) here, but shmem_free\\(0\\) on PE 0$same"
job malloc_and_free "shmem_free\\(0\\) here, but shmem_malloc\\(8\\) on PE 0$same"

run env SHOAL_STATIC=0 oshrun -n 2 --timeout 20 "$build/tests/fault/bad_job" private_dest
expect_err_line "^shoal: PE [01]: .* is not symmetric: use memory from shmem_malloc; variables are not .*SHOAL_STATIC=0"

# Not compared with SHOAL_CHECK=0.
run env SHOAL_CHECK=0 oshrun -n 2 --timeout 20 "$build/tests/fault/bad_job" malloc_size
expect_rc 0
expect_quiet
exit $failed
