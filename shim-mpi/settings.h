// SPDX-License-Identifier: BSD-3-Clause
// The settings of the MPI layer, once: read from the environment when the layer comes up, and shown
// as control variables of MPI_T. The runtime's table of settings names them too, refuses what is no
// number, and prints them in `shoal info`.
#ifndef SHOAL_MPI_SETTINGS_H
#define SHOAL_MPI_SETTINGS_H

#include "object.h"

#include <stdint.h>

// X(field, environment name, default, meaning)
#define SHIM_SETTINGS(X)                                                                        \
    X(eager, "SHOAL_MPI_EAGER", 1 << 30,                                                        \
      "bytes of the largest message that is sent with its envelope, as far as one takes them; " \
      "longer ones are got by their receiver")                                                  \
    X(window, "SHOAL_MPI_WINDOW", 1 << 20,                                                      \
      "bytes of such messages that a receiver may not have received yet, from each sender")     \
    X(stage, "SHOAL_MPI_STAGE", 1 << 22,                                                        \
      "bytes of the largest message that its sender copies to memory shared with the receiver") \
    X(stage_shared, "SHOAL_MPI_STAGE_SHARED", 1 << 12,                                          \
      "the same of data that the receiver reaches by load where it is")                         \
    X(split, "SHOAL_MPI_SPLIT", 1 << 16,                                                        \
      "bytes of the smallest message that sender and receiver copy together; 0: none")          \
    X(hint, "SHOAL_MPI_HINT", 1 << 19,                                                          \
      "bytes of the smallest nonblocking receive that its source is told of, and of the "       \
      "smallest nonblocking send whose data stays where it is; 0: none")                        \
    X(learn, "SHOAL_MPI_LEARN", 1,                                                              \
      "1: which messages of 8 KB and more are copied to shared memory is learnt; 0: all")       \
    X(stream, "SHOAL_MPI_STREAM", 0,                                                            \
      "1: longer messages are sent in pieces as if their receiver could not get them")          \
    X(gather, "SHOAL_MPI_GATHER", 512,                                                          \
      "bytes of the largest put, get or accumulate that goes with others in windows of other "  \
      "nodes or of malloc's memory; 0: none")                                                   \
    X(ask, "SHOAL_MPI_ASK", 8192,                                                               \
      "bytes that a process of the node changes or copies itself in a window over its malloc's " \
      "memory, when it is in the library; 0: none")                                             \
    X(keep, "SHOAL_MPI_KEEP", 0,                                                                \
      "1: nonblocking messages wait at their sender, which goes on, as if there were no room")  \
    X(async, "SHOAL_MPI_ASYNC_PROGRESS", 0,                                                     \
      "1: a thread makes progress while the program computes")                                  \
    X(stats, "SHOAL_STATS", 0, "1: each rank prints what it counted when MPI ends in it")

#define X(field, env, def, meaning) uint64_t field;
struct shim_settings {
    SHIM_SETTINGS(X)
};
#undef X

HIDDEN extern struct shim_settings shim_settings;
HIDDEN extern bool shim_window_is_set; // somebody says what it is

void shim_settings_read(void); // any time, idempotent

#endif
