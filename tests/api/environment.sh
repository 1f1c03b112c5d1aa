#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# environment.sh BUILD_DIR: the environment variables of OpenSHMEM 1.6, old SMA_ names too.
set -u
build=$1 failed=0
prog=$build/tests/api/heap_size
[ -x "$prog" ] || { echo "skipped: $prog is not built"; exit 77; }
unset SHMEM_SYMMETRIC_SIZE SMA_SYMMETRIC_SIZE SHMEM_INFO SMA_INFO SHMEM_VERSION SMA_VERSION

job() { # VARIABLES... -- BYTES
    local vars=()
    while [ "$1" != -- ]; do vars+=("$1"); shift; done
    env "${vars[@]}" timeout -k 2 20 "$build/bin/oshrun" --timeout 15 -n 2 "$prog" "$2" 2>&1
}
works() {
    local out
    out=$(job "$@") || { echo "status $?, expected 0: $*"; echo "$out" | head -5; failed=1; }
}
fails() {
    local out
    out=$(job "$@") && { echo "status 0, expected another: $*"; failed=1; }
}
prints() { # TEXT VARIABLES...
    local text=$1 out
    shift
    out=$(job "$@" -- 100)
    case $out in
        *"$text"*) ;;
        *) echo "'$text' is not in the output with $*:"; echo "$out" | head -5; failed=1 ;;
    esac
}

works SHMEM_SYMMETRIC_SIZE=4194304 -- 3800000
works SHMEM_SYMMETRIC_SIZE=4m -- 3800000
works SHMEM_SYMMETRIC_SIZE=4M -- 3800000
works SHMEM_SYMMETRIC_SIZE=4096K -- 3800000
works SHMEM_SYMMETRIC_SIZE=4096k -- 3800000
works SHMEM_SYMMETRIC_SIZE=0.25G -- 250000000
works SHMEM_SYMMETRIC_SIZE=2.5e6 -- 2300000
works SHMEM_SYMMETRIC_SIZE=0.0001T -- 100000000
works SHMEM_SYMMETRIC_SIZE=8MB -- 7800000
works SHMEM_SYMMETRIC_SIZE=4000kk -- 3800000
works SHMEM_SYMMETRIC_SIZE=.5m -- 400000
works SMA_SYMMETRIC_SIZE=9m -- 8000000
works SHMEM_SYMMETRIC_SIZE=32M SMA_SYMMETRIC_SIZE=1M -- 30000000
fails SHMEM_SYMMETRIC_SIZE=4M -- 8000000
fails SHMEM_SYMMETRIC_SIZE=1M SMA_SYMMETRIC_SIZE=32M -- 16000000
fails SHMEM_SYMMETRIC_SIZE=much -- 1
fails SHMEM_SYMMETRIC_SIZE=-4M -- 1
fails SMA_SYMMETRIC_SIZE=-1 -- 1
for prefix in SHMEM SMA; do
    prints SHMEM_SYMMETRIC_SIZE ${prefix}_INFO=1
    prints hoal ${prefix}_VERSION=1
    works ${prefix}_DEBUG=1 -- 1000
done
prints '[heap] symmetric heap: 4194304 bytes at 0x' SHMEM_SYMMETRIC_SIZE=4m SHOAL_LOG=heap:debug
prints '[heap] shmem_malloc: 100 bytes at 0x' SHOAL_LOG=heap:debug
prints 'SHOAL_LOG: "loud" is neither LEVEL nor TOPIC:LEVEL' SHOAL_LOG=loud
[ "$(job SHOAL_LOG=loud -- 100 | wc -l)" -eq 1 ] || { echo "not one line about SHOAL_LOG"; failed=1; }
exit $failed
