// SPDX-License-Identifier: BSD-3-Clause
// Every setting, once: the parser, `shoal info`, SHMEM_INFO and the manual come from this table.
// X(field, environment name, type, default as text, meaning)
// Types: FLAG (set to anything: on), BOOL (0 or 1), INT, NATURAL (from 0 on), COUNT (from 1 on), SIZE
// (number with k, m, g or t), TEXT, and one of some words: TRANSPORT, LAUNCHER, HANDLER (MPI's, of errors).
// A SHMEM_ name is also looked for under its old SMA_ name (OpenSHMEM 1.6, environment variables).
#ifndef SHOAL_BASE_SETTINGS_TABLE_H
#define SHOAL_BASE_SETTINGS_TABLE_H

#define SETTINGS_TABLE(X)                                                                       \
    X(symmetric_size, "SHMEM_SYMMETRIC_SIZE", SIZE, "0",                                        \
      "bytes of symmetric heap per PE; 0: this node's memory divided by its PEs")               \
    X(debug, "SHMEM_DEBUG", FLAG, "", "set: debugging messages and a backtrace on fatal errors") \
    X(info, "SHMEM_INFO", FLAG, "", "set: print the settings at start-up")                      \
    X(version, "SHMEM_VERSION", FLAG, "", "set: print the library's version at start-up")       \
    X(log, "SHOAL_LOG", TEXT, "warn",                                                           \
      "error, warn, info or debug; for one topic TOPIC:LEVEL; several separated by commas")     \
    X(check, "SHOAL_CHECK", BOOL, "1",                                                          \
      "check the buffers of collectives, and compare heap calls between PEs")                  \
    X(backtrace, "SHOAL_BACKTRACE", BOOL, "0", "print a backtrace on fatal errors")             \
    X(spin, "SHOAL_SPIN", INT, "-1",                                                            \
      "microseconds a wait spins before it yields; -1: 20, or 0 when PEs outnumber cores")      \
    X(direct, "SHOAL_DIRECT", BOOL, "1",                                                        \
      "load and store peers on this node; 0: through the transport's calls (for tests)")        \
    X(cross_memory, "SHOAL_CROSS_MEMORY", BOOL, "1",                                            \
      "reach private memory of other PEs by process_vm_readv and process_vm_writev; 0: with "   \
      "their help")                                                                             \
    X(ring_after, "SHOAL_RING_AFTER", INT, "-1",                                                \
      "messages to a PE of this node before the pair has a ring of its own, beside the inbox "   \
      "that all share; 0: never, -1: after a while")                                            \
    X(vnodes, "SHOAL_VNODES", COUNT, "1",                                                       \
      "virtual nodes: this machine's PEs behave as if on so many, with a network between them") \
    X(vnodes_cyclic, "SHOAL_VNODES_CYCLIC", BOOL, "0",                                          \
      "number the PEs of virtual nodes round-robin; 0: consecutive PEs on one node")            \
    X(transport, "SHOAL_TRANSPORT", TRANSPORT, "auto",                                          \
      "what carries data between nodes: auto, ofi or ucx")                                      \
    X(ofi_provider, "SHOAL_OFI_PROVIDER", TEXT, "",                                             \
      "libfabric's provider, such as tcp;ofi_rxm; empty: the best there is")                    \
    X(ofi_offload, "SHOAL_OFI_OFFLOAD", BOOL, "1",                                              \
      "triggered operations that wait for each other go to a provider that takes deferred "     \
      "work, where SHOAL_OFI_PROVIDER names it; 0: not")                                        \
    X(interface, "SHOAL_INTERFACE", TEXT, "",                                                   \
      "network interface or subnet (10.1.0.0/16) to use; empty: choose")                        \
    X(coalesce, "SHOAL_COALESCE", SIZE, "256",                                                  \
      "puts to another node of up to so many bytes (over tcp 4 KB), atomics without a result, "   \
      "and nonblocking messages of up to 4 KB in a row are gathered into messages; 0: each goes " \
      "by itself")                                                                                \
    X(ctx_endpoints, "SHOAL_CTX_ENDPOINTS", INT, "-1",                                          \
      "endpoints of the network for contexts that one thread uses at a time, at most 16; -1: 4 "  \
      "where a PE has 4 cores or more, else 0: they share that of the PE")                       \
    X(network_atomics, "SHOAL_NETWORK_ATOMICS", BOOL, "1",                                      \
      "atomics between nodes by the network where it is coherent with the processors; 0: by "    \
      "the target's processor")                                                                  \
    X(host_timeout, "SHOAL_HOST_TIMEOUT", NATURAL, "5",                                         \
      "seconds after which a host that does not answer is lost, and the job with it; 0: never") \
    X(launcher, "SHOAL_LAUNCHER", LAUNCHER, "auto",                                             \
      "what `oshrun --hosts` hands a job over to: auto, srun, hydra or mpirun")                 \
    X(coll, "SHOAL_COLL", TEXT, "",                                                             \
      "algorithms of collectives between nodes, such as broadcast:chain,alltoall:bruck; empty: "  \
      "by size (for tests)")                                                                    \
    X(adversary, "SHOAL_ADVERSARY", NATURAL, "0",                                               \
      "seed: operations between nodes are delayed and reordered as far as allowed; 0: not")     \
    X(static_data, "SHOAL_STATIC", BOOL, "1",                                                   \
      "make global and static variables symmetric")                                             \
    X(mpi_eager, "SHOAL_MPI_EAGER", SIZE, "1g",                                                 \
      "MPI: bytes of the largest message sent with its envelope, as far as one takes them; "    \
      "longer ones are got by their receiver")                                                  \
    X(mpi_window, "SHOAL_MPI_WINDOW", SIZE, "1m",                                               \
      "MPI: bytes of such messages that a receiver may not have received yet, from each sender") \
    X(mpi_stage, "SHOAL_MPI_STAGE", SIZE, "4m",                                                 \
      "MPI: bytes of the largest message that its sender copies to memory shared with the "     \
      "receiver, on a node")                                                                    \
    X(mpi_stage_shared, "SHOAL_MPI_STAGE_SHARED", SIZE, "4k",                                   \
      "MPI: the same of data that the receiver reaches by load where it is")                    \
    X(mpi_split, "SHOAL_MPI_SPLIT", SIZE, "64k",                                                \
      "MPI: bytes of the smallest message that sender and receiver copy together, on a node; "  \
      "0: none")                                                                                \
    X(mpi_hint, "SHOAL_MPI_HINT", SIZE, "512k",                                                 \
      "MPI: bytes of the smallest nonblocking receive that its source is told of, "             \
      "and of the smallest nonblocking send whose data stays where it is; 0: none")             \
    X(mpi_learn, "SHOAL_MPI_LEARN", BOOL, "1",                                                  \
      "MPI: learn which messages of 8 KB and more are faster when their sender copies them to " \
      "memory shared with the receiver; 0: all are copied")                                     \
    X(mpi_stream, "SHOAL_MPI_STREAM", BOOL, "0",                                                \
      "MPI: send longer messages in pieces, as if their receiver could not get them")           \
    X(mpi_gather, "SHOAL_MPI_GATHER", SIZE, "512",                                              \
      "MPI: bytes of the largest put, get or accumulate that goes with others in windows of "   \
      "other nodes or of malloc's memory; 0: none")                                             \
    X(mpi_ask, "SHOAL_MPI_ASK", SIZE, "8k",                                                     \
      "MPI: bytes of an operation on a window over malloc's memory that its target on the "     \
      "same node does itself when it is in the library just then; 0: none")                     \
    X(mpi_keep, "SHOAL_MPI_KEEP", BOOL, "0",                                                    \
      "MPI: 1: nonblocking messages that go with their envelope wait at their sender first, "   \
      "as they do where there is no room for them (for tests)")                                 \
    X(mpi_async, "SHOAL_MPI_ASYNC_PROGRESS", BOOL, "0",                                         \
      "MPI: 1: a thread in each process makes progress while the program computes, in "         \
      "processes that all work as with MPI_THREAD_MULTIPLE")                                    \
    X(mpi_errhandler, "SHOAL_MPI_INITIAL_ERRHANDLER", HANDLER, "mpi_errors_are_fatal",          \
      "MPI: what an error does until the program says otherwise: mpi_errors_are_fatal, "        \
      "mpi_errors_abort or mpi_errors_return")                                                  \
    X(report_bindings, "SHOAL_REPORT_BINDINGS", BOOL, "0",                                      \
      "each PE prints at its start which CPUs it may run on")                                   \
    X(stats, "SHOAL_STATS", BOOL, "0",                                                          \
      "print what each PE counted: an MPI program's messages when it has done with MPI, chains " \
      "of triggered operations at the end")

#endif
