// SPDX-License-Identifier: BSD-3-Clause
// A C++ program: the header in C++, typed calls behind templates, objects in static memory.
#include <cstdint>
#include <vector>
#include "../check.h"

namespace
{

template <typename T> struct ops;
#define X(T, N)                                                \
    template <> struct ops<T> {                                \
        static constexpr auto put = shmem_##N##_put;           \
        static constexpr auto get = shmem_##N##_get;           \
        static constexpr auto sum = shmem_##N##_sum_reduce;    \
        static constexpr auto fcollect = shmem_##N##_fcollect; \
    };
X(int, int)
X(long, long)
X(double, double)
X(float, float)
X(long double, longdouble)
X(unsigned char, uchar)
X(unsigned long long, ulonglong)
#undef X

template <typename T> void family()
{
    static T box[4]; // a static of a template's instance is symmetric, too
    std::vector<T> mine(4), got(4);
    for (int i = 0; i < 4; i++)
        mine[i] = T(me * 4 + i);
    shmem_barrier_all();
    ops<T>::put(box, mine.data(), 4, right_pe());
    shmem_barrier_all();
    for (int i = 0; i < 4; i++)
        CHECK_EQ(box[i], T(left_pe() * 4 + i));
    ops<T>::get(got.data(), box, 4, right_pe());
    CHECK(got == mine);
    static T one, sum;
    one = T(1);
    CHECK_EQ(ops<T>::sum(SHMEM_TEAM_WORLD, &sum, &one, 1), 0);
    CHECK_EQ(sum, T(npes));
    T *all = static_cast<T *>(shmem_malloc(sizeof(T) * npes));
    one = T(me);
    CHECK_EQ(ops<T>::fcollect(SHMEM_TEAM_WORLD, all, &one, 1), 0);
    for (int pe = 0; pe < npes; pe++)
        CHECK_EQ(all[pe], T(pe));
    shmem_free(all);
}

class counter // an atomic counter that lives on one PE
{
  public:
    explicit counter(int home) : home_(home)
    {
        value_ = static_cast<uint64_t *>(shmem_calloc(1, sizeof(uint64_t)));
    }
    ~counter()
    {
        shmem_free(value_);
    }
    counter(const counter &) = delete;
    counter &operator=(const counter &) = delete;
    uint64_t next()
    {
        return shmem_uint64_atomic_fetch_inc(value_, home_);
    }
    uint64_t get() const
    {
        return shmem_uint64_atomic_fetch(value_, home_);
    }

  private:
    int home_;
    uint64_t *value_;
};

} // namespace

int main()
{
    check_start();
    family<int>();
    family<long>();
    family<double>();
    family<float>();
    family<long double>();
    family<unsigned char>();
    family<unsigned long long>();
    {
        counter c(npes - 1);
        for (int i = 0; i < 100; i++)
            CHECK(c.next() < 100u * npes);
        shmem_barrier_all();
        CHECK_EQ(c.get(), 100 * npes);
    }
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    shmem_team_t team = SHMEM_TEAM_INVALID;
    shmem_team_config_t config;
    config.num_contexts = 1;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &config,
                                      SHMEM_TEAM_NUM_CONTEXTS, &team),
             0);
    CHECK_EQ(shmem_team_create_ctx(team, SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE, &ctx), 0);
    static uint64_t signal;
    static char text[16];
    shmem_ctx_putmem_signal(ctx, text, "hello", 6, &signal, 1, SHMEM_SIGNAL_SET, right_pe());
    shmem_signal_wait_until(&signal, SHMEM_CMP_EQ, 1);
    CHECK(strcmp(text, "hello") == 0);
    shmem_ctx_destroy(ctx);
    shmem_team_destroy(team);
    return check_done();
}
