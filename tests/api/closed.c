// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// A program may close every descriptor it did not open: nothing is done to the file that gets the
// number of ours.
#include "../check.h"

#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 4 << 20 };
static int data = 3;

int main(void)
{
    check_start();
    char name[] = "/tmp/shoal-test-XXXXXX";
    unsigned char *bytes = must_alloc(SIZE);
    for (int fd = 3; fd < 64; fd++)
        close(fd);
    int fd = mkstemp(name);
    unlink(name);
    memset(bytes, 7, SIZE);
    CHECK_EQ(write(fd, bytes, SIZE), SIZE);
    shmem_free(shmem_calloc(SIZE, 1));
    data = 4;
    pid_t child = fork(); // has its own static data all the same
    if (child == 0) {
        data++;
        _exit(data == 5 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
    CHECK_EQ(data, 4);
    unsigned failures = check_failures;
    int end = check_done(); // finalizes
    CHECK_EQ(pread(fd, bytes, SIZE, 0), SIZE);
    for (size_t i = 0; i < SIZE; i++)
        if (bytes[i] != 7)
            failures++;
    free(bytes);
    return failures ? 1 : end;
}
