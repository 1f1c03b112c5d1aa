// SPDX-License-Identifier: BSD-3-Clause
// oshrun's command line as a structure. Parsing has no side effects.
#ifndef SHOAL_LAUNCH_OPTIONS_H
#define SHOAL_LAUNCH_OPTIONS_H

#include "bind.h"

#include <stdbool.h>
#include <stdio.h>

enum options_result { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_VERSION, OPTIONS_WRONG };

// Whose standard input is ours, instead of a PE's number.
enum { INPUT_ALL = -1, INPUT_NONE = -2 };

// How PEs are numbered: as they are spread, host by host, by turns.
enum rank_by { RANK_BY_MAP, RANK_BY_SLOT, RANK_BY_NODE };

// A program and how many PEs run it.
struct block {
    int npes;
    const char *dir;  // where they start, NULL: where the launcher is
    const char *path; // directories that the program is in, NULL: those of PATH
    char **program;   // and its arguments, NULL-terminated, in argv's memory
    char **vars;      // of -env, "VAR=VALUE"; those of an only one are among options.vars, too
    int nvars;
    bool bare; // no other variables but those that are named
};

struct options {
    int npes;               // of all blocks
    const char *dir, *path; // of the block that is read
    bool bare;              // and this, too
    bool npes_given;
    struct block *block;
    int blocks;
    bool verbose, dry_run;
    bool tag, stamp;        // in front of lines: the PE, the time
    const char *prefix;     // of lines, a pattern (pattern.h), NULL: none but these
    const char *files[2];   // patterns for names of files for stdout and stderr, NULL: none
    const char *output_dir; // where the files of --output-filename are, as it was given
    bool copies;            // what goes into files is passed on, too
    bool merges;            // stderr into stdout
    int input;              // the PE that reads our stdin, or INPUT_ALL, INPUT_NONE
    bool print_ends, print_places;
    const char *hosts, *hostfile; // NULL: this node
    int per_host;                 // PEs on each host, 0: as the hosts say
    double timeout;               // seconds, 0: none
    bool spread;                  // over hosts by turns, not each one until it is full
    enum rank_by rank_by;
    bool needs_npes; // what is said of places does not tell how many PEs there are
    enum bind_what bind;
    bool bind_given;
    int bind_each; // places of that kind
    int cpus;      // cores that each PE is to have, 0: as the two say
    char **vars;   // of -x and its like, "VAR" or "VAR=VALUE"
    int nvars;
    bool all_vars;   // asked for, also where a launcher would pass few
    bool no_vars;    // no program has others but those that are named
    char **own_vars; // of the block that is read
    int own_nvars;
    char error[160]; // one sentence when the result is OPTIONS_WRONG
};

// Reads argv, which must end with NULL, or the file that it names; the words ":" between blocks become NULL. vars and block are
// allocated, for ever, and so are variables that are put together from two words.
enum options_result options_parse(int argc, char **argv, struct options *opt);
void options_help(FILE *out);
extern const char options_usage[]; // one line

#endif
