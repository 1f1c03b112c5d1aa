// SPDX-License-Identifier: BSD-3-Clause
// Which copies the processor does best itself. See copy.h.
#include "copy.h"

// What memcpy has the processor copy: not less (2112 bytes with glibc), and not more. In pieces Zen 3 and 4
// are faster with short ones wherever they lie, and with longer ones where they are much too slow.
enum { PIECE = COPY_LEAST, SHORT = COPY_MOST, PIECES_MOST = 4 << 20 };

static bool goes_in_pieces(const void *to, const void *from, size_t n)
{
    return copy_slow_shifts() && n < PIECES_MOST && (n < SHORT || copy_is_shifted(to, from));
}

void copy_long(void *to, const void *from, size_t n)
{
    size_t piece = goes_in_pieces(to, from, n) ? PIECE : n;
    for (size_t at = 0, part; at < n; at += part) {
        part = n - at < piece ? n - at : piece;
        memcpy((char *)to + at, (const char *)from + at, part);
    }
}

#if defined(__x86_64__) && !defined(SHOAL_SANITIZED)
#include <cpuid.h>
#include <emmintrin.h>

enum { LINE = 64 };

// Lines that are stored whole, past the caches, are not read first.
static void stream_lines(char *to, const char *from, size_t lines)
{
    for (size_t i = 0; i < lines * LINE; i += LINE) {
        const __m128i *in = (const __m128i *)(const void *)(from + i);
        __m128i *out = (__m128i *)(void *)(to + i);
        __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1), c = _mm_loadu_si128(in + 2),
                d = _mm_loadu_si128(in + 3);
        _mm_stream_si128(out, a);
        _mm_stream_si128(out + 1, b);
        _mm_stream_si128(out + 2, c);
        _mm_stream_si128(out + 3, d);
    }
    _mm_sfence(); // before all stores that follow
}

void copy_streaming(void *to, const void *from, size_t n)
{
    size_t first = -(uintptr_t)to % LINE;
    first = first < n ? first : n;
    size_t lines = (n - first) / LINE, done = first + lines * LINE;
    memcpy(to, from, first);
    stream_lines((char *)to + first, (const char *)from + first, lines);
    memcpy((char *)to + done, (const char *)from + done, n - done);
}

enum { FAMILY_ZEN_3_4 = 0x19 };

struct copy_ways copy_ways;

// Its family and model in one, 0: another one.
static unsigned zen_3_4(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(0, &a, &b, &c, &d) || b != signature_AMD_ebx || c != signature_AMD_ecx ||
        d != signature_AMD_edx || !__get_cpuid(1, &a, &b, &c, &d))
        return 0;
    unsigned family = (a >> 8 & 0xf) + (a >> 20 & 0xff), model = (a >> 12 & 0xf0) | (a >> 4 & 0xf);
    return family == FAMILY_ZEN_3_4 ? family << 8 | model : 0;
}

// Its models begin with 1, 6, 7 and a.
static bool is_zen_4(unsigned cpu)
{
    return cpu && 1u << (cpu >> 4 & 0xf) & (1u << 1 | 1u << 6 | 1u << 7 | 1u << 0xa);
}

__attribute__((constructor)) static void choose(void)
{
    unsigned a, b, c, d, cpu = zen_3_4();
    if (cpu || HOSTILE) {
        copy_ways.shifts = COPY_SHIFTS;
        copy_ways.worst = is_zen_4(cpu) && !HOSTILE ? COPY_SHIFTS_ZEN_4 : COPY_SHIFTS;
    } else if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & (1u << 9))) {
        copy_ways.span = COPY_MOST - COPY_LEAST;
    }
}
#else
void copy_streaming(void *to, const void *from, size_t n)
{
    copy_bytes(to, from, n);
}
#endif
