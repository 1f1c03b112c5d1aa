// SPDX-License-Identifier: BSD-3-Clause
// See device.h.
#include "device.h"

#include <dirent.h>
#include <string.h>

static bool is_called(const char *device, const char *name)
{
    size_t n = strcspn(name, ":");
    return strlen(device) == n && strncmp(device, name, n) == 0;
}

bool device_is_there(const char *class, const char *name)
{
    DIR *dir = opendir(class);
    bool found = false;
    for (struct dirent *at; dir && !found && (at = readdir(dir));)
        found = at->d_name[0] != '.' && (!name || is_called(at->d_name, name));
    if (dir)
        closedir(dir);
    return found;
}
