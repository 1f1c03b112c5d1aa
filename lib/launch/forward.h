// SPDX-License-Identifier: BSD-3-Clause
// The PEs' stdout and stderr on their way through the launcher.
//
//     PE --pipe--> struct stream (the unfinished line) --> struct sink (what is not yet written)
//
// The sinks are our stdout and stderr and, if wanted, files.
//
// Whole lines go to the sink at once; an unfinished one follows at end of file, or after a silence
// so that prompts are seen. A sink is written only when it takes data without blocking, and while
// one does not, no stream is read: the launcher stays awake for signals and deaths.
#ifndef SHOAL_LAUNCH_FORWARD_H
#define SHOAL_LAUNCH_FORWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stream;

struct sink {
    int fd;
    bool is_file; // takes any amount without blocking
    const char *name;
    int error; // errno of the write that failed; nothing is written any more
    char *data;
    size_t head, len, cap;
    const struct stream *open; // whose unfinished line it ends in
};

struct stream {
    int fd; // -1: at its end
    int pe;
    struct sink *sinks[2]; // the second for a copy, NULL: none
    char *rest;            // the unfinished line
    size_t len, cap;
    uint64_t look_at; // whether it still is silent, ns
    int looks;        // that found it so
    size_t budget;    // bytes it may still bring after all PEs are gone
};

// What is wanted of it.
struct forward_how {
    bool direct;          // PEs write to our stdout and stderr themselves
    const char *prefix;   // a pattern (pattern.h), in front of every line, NULL: none
    const char *files[2]; // patterns for names of files, for stdout and stderr, NULL: ours
    bool copies;          // what goes into files is passed on, too
    bool merges;          // stderr into stdout
};

struct forward {
    struct forward_how how;
    int npes, epoll;
    struct sink *sinks; // stdout, stderr, files
    int nsinks;
    struct stream *streams; // at most two per PE
    int nstreams, nopen;
    int nrest;         // streams with an unfinished line
    bool is_hurried;   // the user wants the end: who reads nothing for a while is not waited for
    const char *wrong; // what could not be opened
};

int forward_open(struct forward *f, int npes, const struct forward_how *how); // 0, or -1 with errno

// Makes PE pe's two pipes; ends[] are for its stdout and stderr, to be closed by the caller once
// the PE has them. 0, or -1 with errno and `wrong`.
int forward_pipes(struct forward *f, int pe, int ends[2]);

void forward_read(struct forward *f, struct stream *s, uint64_t now);
// Passes on unfinished lines that have been silent long enough; returns when to call again, 0:
// not needed.
uint64_t forward_tick(struct forward *f, uint64_t now);

void forward_flush(struct forward *f); // writes what can be written without blocking
const struct sink *forward_failed(
    const struct forward *f);                  // cannot be written, NULL: none but stderr
bool forward_blocked(const struct forward *f); // something is left to write

// The launcher's last line, to stderr, after what was forwarded. Waits until all is written.
void forward_say(struct forward *f, const char *line);

// Waits up to timeout_ms for a sink to take data or for signal_fd (-1: none).
void forward_wait(struct forward *f, int signal_fd, int timeout_ms);

// After all PEs are gone: what is in the pipes, at most 100 ms more from other holders of them.
void forward_drain(struct forward *f);

#endif
