// SPDX-License-Identifier: BSD-3-Clause
// What the compiler is told: branch hints, symbol aliases, the size of a cache line.
#ifndef SHOAL_BASE_COMPILER_H
#define SHOAL_BASE_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#if __has_include(<sys/single_threaded.h>) // glibc 2.32
#include <sys/single_threaded.h>
#define SINGLE_THREADED __libc_single_threaded
#else
#define SINGLE_THREADED 0
#endif

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define INLINE inline __attribute__((always_inline))

#define CACHE_LINE 64
#define LINE_ALIGNED _Alignas(CACHE_LINE)

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

// n elements of `size` bytes, or more bytes than there are anywhere.
#define BYTES_OF(n, size) \
    (__extension__({ \
        size_t bytes_; \
        unlikely(__builtin_mul_overflow((size_t)(n), (size_t)(size), &bytes_)) ? SIZE_MAX : bytes_; \
    }))

// The line will be written: others give it up now. (The Makefile sees to it that it is this for x86-64, too.
// INLINE, and so what calls it: a function that only prefetches does nothing, says the compiler.)
static INLINE void prefetch_to_write(const void *p)
{
    __builtin_prefetch(p, 1);
}

// From the beginning of a line on.
static INLINE void prefetch_all_to_write(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i += CACHE_LINE)
        prefetch_to_write(p + i);
}

// Kept out of line and out of the hot text: error paths, slow paths.
#define COLD __attribute__((cold, noinline))
// Keeps the registers it needs from being saved on the path that does not call it.
#define NOINLINE __attribute__((noinline))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define UNUSED __attribute__((unused))
// Of a variable of another file: known to be in this library, so one load and not two.
#define HIDDEN __attribute__((visibility("hidden")))
// p has been computed: its parts are not kept, to be put together again at each use.
#define COMPUTED(p) __asm__("" : "+r"(p))
#define PUBLIC __attribute__((visibility("default")))

// Ours come after what the thread did that released this word. It is so by way of another process,
// into which a thread sanitizer does not see.
// Called on both sides of such a way that leads past no word of its own.
#if defined(SHOAL_SANITIZED)
extern _Atomic int compiler_order;
#define ORDERED_ELSEWHERE() ((void)atomic_fetch_add(&compiler_order, 1))
#define KNOWN_TO_BE_AFTER(word) ((void)atomic_load_explicit(&(word), memory_order_acquire))
#else
#define ORDERED_ELSEWHERE() ((void)0)
#define KNOWN_TO_BE_AFTER(word) ((void)0)
#endif

// In between, this thread does for other processes what they have ordered with this one's program: the
// thread sanitizer, which does not see them, is not to look.
#if defined(SHOAL_THREAD_SANITIZED)
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
#define FOR_OTHERS_BEGIN() \
    (AnnotateIgnoreReadsBegin(__FILE__, __LINE__), AnnotateIgnoreWritesBegin(__FILE__, __LINE__))
#define FOR_OTHERS_END() \
    (AnnotateIgnoreWritesEnd(__FILE__, __LINE__), AnnotateIgnoreReadsEnd(__FILE__, __LINE__))
#else
#define FOR_OTHERS_BEGIN() ((void)0)
#define FOR_OTHERS_END() ((void)0)
#endif

// While this process has no second thread, what only another of its threads could disturb needs no
// locked instruction. Whoever starts a thread gives it all that was stored before.
static inline bool is_single_threaded(void)
{
    return SINGLE_THREADED;
}

// Initial-exec: one load relative to the thread pointer, no call. Safe for a library that is
// linked (the static TLS surplus serves dlopen).
#define TLS_FAST _Thread_local __attribute__((tls_model("initial-exec")))

// The public name of a function defined as p<name>: weak, so that a tool can put its own in front
// (OpenSHMEM 1.6, "Profiling Interface").
#define WEAK_TWIN(name) extern __typeof(p##name) name __attribute__((weak, alias("p" #name)))

#endif
