/*
** Lanes by a vector of indices: lane j of VEC_SHUFFLE(x, at) is x[at[j]], and
** VEC_SHUFFLE2(x, y, at) counts on from x into y. 'at' is a vector of integers
** as wide as the lanes. GCC has both as builtins (__builtin_shuffle); clang has
** them for literal indices only, so there the lanes are picked one by one,
** which it makes one instruction of where it sees the numbers. (The type of x +
** x is the vector's without const.)
*/
#ifndef LA_SIMD_PERMUTE_SHUFFLE_H
#define LA_SIMD_PERMUTE_SHUFFLE_H

#ifdef __clang__
#define VEC_SHUFFLE2(x, y, at)                                              \
    ({                                                                      \
        __typeof__((x) + (x)) x_ = (x), y_ = (y), out_;                     \
        __typeof__(at) at_ = (at);                                          \
        enum { N_ = sizeof(x_) / sizeof(x_[0]) };                           \
        _Pragma("clang loop unroll(full)")                                  \
        for (int j_ = 0; j_ < N_; j_++) {                                   \
            int l_ = (int)at_[j_] & (2 * N_ - 1);                           \
            out_[j_] = l_ < N_ ? x_[l_] : y_[l_ - N_];                      \
        }                                                                   \
        out_;                                                               \
    })
#define VEC_SHUFFLE(x, at)                                                  \
    ({                                                                      \
        __typeof__((x) + (x)) x_ = (x), out_;                               \
        __typeof__(at) at_ = (at);                                          \
        enum { N_ = sizeof(x_) / sizeof(x_[0]) };                           \
        _Pragma("clang loop unroll(full)")                                  \
        for (int j_ = 0; j_ < N_; j_++)                                     \
            out_[j_] = x_[(int)at_[j_] & (N_ - 1)];                         \
        out_;                                                               \
    })
#else
#define VEC_SHUFFLE(x, at) __builtin_shuffle(x, at)
#define VEC_SHUFFLE2(x, y, at) __builtin_shuffle(x, y, at)
#endif

#endif
