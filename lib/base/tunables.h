// SPDX-License-Identifier: BSD-3-Clause
// Sizes and thresholds fixed at build time. HOSTILE=1 makes every one of them so small that the
// rare paths become the common ones; the same tests must pass.
#ifndef SHOAL_BASE_TUNABLES_H
#define SHOAL_BASE_TUNABLES_H

#if defined(SHOAL_HOSTILE)
#define HOSTILE 1
#define LIMIT_COLL_SLOT 64            // bytes of one PE's contribution that travel through its slot
#define LIMIT_COLL_BLOCK 256          // bytes reduced at a time
#define LIMIT_COLL_STAGE 8192         // bytes a leader stages of a collective over nodes at a time
#define LIMIT_COLL_EAGER 128          // bytes of a message between leaders, its head among them
#define LIMIT_COLL_SEGMENT 3000       // bytes of a link of a broadcast's chain
#define LIMIT_COLL_BROADCAST 200      // where the table of algorithms (coll_choose.c) changes
#define LIMIT_COLL_REDUCE 64
#define LIMIT_COLL_GATHER 200
#define LIMIT_COLL_ALLTOALL 64
#define LIMIT_HEAP_DEFAULT (64UL << 20)
#define LIMIT_SPIN_NS 0
#define LIMIT_YIELDS 2
#define LIMIT_LINGER_NS 0
#define LIMIT_SLICE_NS 100000         // of the scheduler's; it takes none that are shorter
#define LIMIT_INBOX_SLOTS 2           // messages a PE's shared inbox holds, a power of two
#define LIMIT_RING_SLOTS 2            // and a pair's own ring
#define LIMIT_RING_AFTER 2            // messages to one PE before it is asked for a ring
#define LIMIT_FIRST_NUMBER (UINT32_MAX - 8) // before that of a pair's first message: they go round soon
#define LIMIT_AM_PAYLOAD 128          // bytes of payload of an active message, whole lines
#define LIMIT_AM_SHORT 64             // of those that lie close together in a channel, whole lines
#define LIMIT_AM_FAR 256              // the same to a PE of another node
#define LIMIT_AM_PART 96              // bytes of it that one message of the network carries
#define LIMIT_KEPT 8                  // messages a handler that waits keeps without hesitation
#define LIMIT_BOUNCE 64               // bytes of a piece of a copy that needs the peer's help
#define LIMIT_REGION_RMA 64           // bytes moved to or from a far region without messages
#define LIMIT_BATCH 160               // bytes of operations gathered for one PE
#define LIMIT_REMOTE_CHUNK 48         // bytes a transport moves per call (forced partial progress)
#else
#define HOSTILE 0
#define LIMIT_COLL_SLOT 4096
#define LIMIT_COLL_BLOCK 8192
#define LIMIT_COLL_STAGE (4UL << 20)
#define LIMIT_COLL_EAGER 65536
#define LIMIT_COLL_SEGMENT (128UL << 10)
#define LIMIT_COLL_BROADCAST (64UL << 10)
#define LIMIT_COLL_REDUCE (16UL << 10)
#define LIMIT_COLL_GATHER (32UL << 10)
#define LIMIT_COLL_ALLTOALL 512
#define LIMIT_HEAP_DEFAULT 0          // 0: the memory this node has, divided by its PEs
#define LIMIT_SPIN_NS 20000
#define LIMIT_YIELDS 200
#define LIMIT_LINGER_NS 1000000
#define LIMIT_SLICE_NS 100000         // of the scheduler's; it takes none that are shorter
#define LIMIT_INBOX_SLOTS 256
#define LIMIT_RING_SLOTS 128
#define LIMIT_RING_AFTER 64
#define LIMIT_FIRST_NUMBER 0
#define LIMIT_AM_PAYLOAD 2048
#define LIMIT_AM_SHORT 256
#define LIMIT_AM_FAR 65536
#define LIMIT_AM_PART 65536
#define LIMIT_KEPT 256
#define LIMIT_BOUNCE 65536
#define LIMIT_BATCH 16384
#define LIMIT_REGION_RMA 8192
#define LIMIT_REMOTE_CHUNK (1UL << 30)
#endif

#define LIMIT_TEAMS 256               // teams alive at once on one PE, world included
#define LIMIT_COUNTERS 4096           // counting events of one PE, number 0 included
#define LIMIT_WORKS 65536             // triggered operations of one PE that are not done
#define LIMIT_REGIONS 4096            // regions registered at once by one PE
#define LIMIT_RINGS 63                // rings into one PE
#define LIMIT_PES (1 << 20)

#endif
