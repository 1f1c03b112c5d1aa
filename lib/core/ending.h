// SPDX-License-Identifier: BSD-3-Clause
// What shoal_event_t.more points to: what has to be asked whether it is done, helped, or ended.
#ifndef SHOAL_CORE_ENDING_H
#define SHOAL_CORE_ENDING_H

#include <stdbool.h>

struct ending {
    bool (*is_done)(struct ending *e); // NULL: the event's word says it
    bool (*help)(struct ending *e);    // does some of the work: true, there was some; NULL: cannot
    int (*end)(struct ending *e);      // once, when it is done: its status
};

#endif
