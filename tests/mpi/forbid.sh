#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The kernel forbids to reach the memory of other processes: long messages and windows over private
# memory do without. (SHOAL_CROSS_MEMORY=0 is the same from the start; here it turns out on the way.)
. "$(dirname "$0")/../launch/lib.sh"
forbid=$build/tests/fault/forbid
[ -x "$forbid" ] || skip "$forbid is not built"
[ -x "$build/tests/mpi/traffic" ] || skip "tests/mpi/traffic is not built"
case $build in
*hostile*) skip "done with the other builds, and slow with tiny sizes" ;;
*thread*) skip "done with the other builds: what is forbidden is forbidden to all threads" ;;
esac
run "$forbid" EPERM membarrier true
[ "$rc" -ne 77 ] || skip "seccomp filters cannot be installed here"
expect_rc 0

passes() { # ERROR CALLS RANKS TEST...
    error=$1 calls=$2 ranks=$3
    shift 3
    for test; do
        run "$forbid" "$error" "$calls" oshrun -n "$ranks" --timeout 60 "$build/tests/mpi/$test"
        expect_rc 0
        expect_quiet
    done
}
both=process_vm_readv,process_vm_writev
windows='rma_random rma_atomic rma_dynamic rma_sync rma_windows'
# shellcheck disable=SC2086
for ranks in 2 4; do
    passes EPERM $both $ranks traffic order coll rma_threads rma_stopped $windows
done
passes ENOSYS $both 2 traffic rma_random
passes EPERM $both 4 coll_long

# To some of the ranks alone.
what="half of the ranks do not reach the others"
run oshrun -n 2 --timeout 60 "$build/tests/mpi/coll_long" : \
    -n 3 env SHOAL_CROSS_MEMORY=0 "$build/tests/mpi/coll_long"
expect_rc 0
expect_quiet
what=
for call in process_vm_readv process_vm_writev; do
    passes EPERM $call 2 traffic rma_random rma_dynamic
done

# Every way of a message is still taken where it should be.
run "$forbid" EPERM $both oshrun -n 2 --timeout 60 env SHOAL_MPI_STAGE=0 "$build/tests/mpi/ways" \
    rendezvous 4 pull 4 stream 0
expect_rc 0
exit 0
