// SPDX-License-Identifier: BSD-3-Clause
// A thread that copies from and to this PE's private memory for those of its node whom the kernel lets
// not do so, while the PE computes.
#ifndef SHOAL_CORE_ATTENDANT_H
#define SHOAL_CORE_ATTENDANT_H

#include <stdbool.h>

// Private memory has been made reachable: from then on there is one, where it is needed.
void attendant_want(void);
bool attendant_is_needed(void);
bool attendant_is_there(void);

void attendant_down(void);
void attendant_leave(void); // as the process ends

#endif
