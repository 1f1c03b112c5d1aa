// SPDX-License-Identifier: BSD-3-Clause
// external32 (type_external.h). The recipe tells which basic elements follow each other in the
// stream; runs of equal ones are packed in pieces as they are in memory, and converted there.
#include "type_external.h"

#include "type_recipe.h"
#include "type_table.h"

#include <float.h>
#include <string.h>

// A position in both streams.
struct stream {
    const struct type *type;
    void *buf;
    MPI_Count count;
    MPI_Count from; // of the stream of the machine
    char *external;
    bool pack;
};

static MPI_Count external_basic(const struct predefined *what)
{
    return what->external[0] + what->external[1];
}

MPI_Count external_size(const struct type *t)
{
    MPI_Count size = 0, part;
    if (t->basic) {
        MPI_Count basics = t->elements / t->basic->elements;
        return __builtin_mul_overflow(basics, external_basic(t->basic->what), &size) ? -1 : size;
    }
    if (t->size == 0)
        return 0;
    const struct type_recipe *r = t->recipe;
    if (r->combiner != MPI_COMBINER_STRUCT) {
        const struct type *child = r->types[0];
        part = external_size(child);
        return part < 0 || __builtin_mul_overflow(t->size / child->size, part, &size) ? -1 : size;
    }
    for (MPI_Count i = 0; i < r->n_types; i++) {
        part = external_size(r->types[i]);
        if (part < 0 || __builtin_mul_overflow(part, recipe_number(r, 1 + i), &part) ||
            __builtin_add_overflow(size, part, &size))
            return -1;
    }
    return size;
}

// ---- One number. Both machines and external numbers are two's complement or IEEE; the machine is
// little-endian, and its long double is converted by the compiler.
static void reverse(char *to, const char *from, size_t n)
{
    const char *at = from + n;
    while (at > from)
        *to++ = *--at;
}

static bool is_negative(char highest) { return (signed char)highest < 0; }

// What a long double uses of its place: the x87's ten bytes of sixteen, or all of it.
enum { LONG_DOUBLE_USED = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double) };

static void number_out(char *to, size_t to_size, const char *from, size_t from_size, char coding)
{
    char native[16];
    size_t n = from_size < to_size ? from_size : to_size;
    if (coding == 'x' && from_size == sizeof(long double)) {
        long double value;
        memcpy(&value, from, sizeof value);
        mpi_float128 wide = (mpi_float128)value;
        memcpy(native, &wide, sizeof native);
    } else {
        memset(native, coding == 'i' && is_negative(from[from_size - 1]) ? 0xff : 0, sizeof native);
        memcpy(native, from, n);
    }
    reverse(to, native, to_size);
}

static void number_in(char *to, size_t to_size, const char *from, size_t from_size, char coding)
{
    char native[16];
    memset(native, coding == 'i' && is_negative(*from) ? 0xff : 0, sizeof native);
    reverse(native, from, from_size);
    if (coding == 'x' && to_size == sizeof(long double)) {
        mpi_float128 wide;
        memcpy(&wide, native, sizeof wide);
        long double value = (long double)wide;
        memset(to, 0, to_size); // also what the number does not use
        memcpy(to, &value, LONG_DOUBLE_USED);
    } else {
        memcpy(to, native, to_size);
    }
}

static void convert(const struct predefined *what, char *native, char *external, MPI_Count n,
                    bool pack)
{
    const struct element_info *e = &elements[what->element];
    for (MPI_Count i = 0; i < n; i++)
        for (int k = 0; k < 2 && e->number[k] > 0; k++) {
            char coding = k == 1 && what->class == CLASS_PAIR && e->coding == 'x' ? 'i' : e->coding;
            if (pack)
                number_out(external, what->external[k], native, e->number[k], coding);
            else
                number_in(native, e->number[k], external, what->external[k], coding);
            native += e->number[k];
            external += what->external[k];
        }
}

// ---- Runs
static void move_run(struct stream *s, const struct type *basic, MPI_Count n)
{
    char piece[4096];
    MPI_Count most = (MPI_Count)sizeof piece / basic->size;
    while (n > 0) {
        MPI_Count part = n < most ? n : most, bytes = part * basic->size;
        if (s->pack)
            type_pack(s->type, s->buf, s->count, s->from, piece, (size_t)bytes);
        convert(basic->what, piece, s->external, part, s->pack);
        if (!s->pack)
            type_unpack(s->type, s->buf, s->count, s->from, piece, (size_t)bytes);
        s->from += bytes;
        s->external += part * external_basic(basic->what);
        n -= part;
    }
}

static void move_elements(struct stream *s, const struct type *t, MPI_Count n)
{
    if (t->size == 0)
        return;
    if (t->basic) {
        move_run(s, t->basic, n * (t->elements / t->basic->elements));
        return;
    }
    const struct type_recipe *r = t->recipe;
    for (MPI_Count k = 0; k < n; k++)
        if (r->combiner == MPI_COMBINER_STRUCT)
            for (MPI_Count i = 0; i < r->n_types; i++)
                move_elements(s, r->types[i], recipe_number(r, 1 + i));
        else
            move_elements(s, r->types[0], t->size / r->types[0]->size);
}

void external_pack(const struct type *t, const void *buf, MPI_Count count, void *out)
{
    struct stream s = {t, (void *)(uintptr_t)buf, count, 0, out, true};
    move_elements(&s, t, count);
}

void external_unpack(const struct type *t, void *buf, MPI_Count count, const void *in)
{
    struct stream s = {t, buf, count, 0, (char *)(uintptr_t)in, false};
    move_elements(&s, t, count);
}
