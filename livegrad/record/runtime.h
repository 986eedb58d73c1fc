// What a printed program stands on (cpp.py): samples side by side in one register, elementary functions,
// sums that stay in registers. IEEE arithmetic in a fixed order: WebAssembly gives the same bits on every machine. For a
// processor a product may be fused with its sum, which rounds once in place of twice.
#ifndef LANES
#if defined __AVX512F__
#define LANES 8
#elif defined __AVX2__
#define LANES 4
#else
#define LANES 2
#endif
#endif
#define NOT_INLINE static __attribute__((noinline))  // pages carry the bytes
#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif
#ifdef __wasm__
extern "C" unsigned char __heap_base;
#define API(type, name) extern "C" __attribute__((export_name(#name))) type name
API(unsigned char *, heap)(void) { return &__heap_base; }
API(int, grow)(double bytes)
{
    double missing = ((double)(long)&__heap_base + bytes) / 65536 - __builtin_wasm_memory_size(0);
    if (missing > 65536) return 0;
    return missing <= 0 || __builtin_wasm_memory_grow(0, (unsigned long)missing + 1) != (unsigned long)-1;
}
extern "C" void *memset(void *to, int value, unsigned long bytes)
{
    for (unsigned long k = 0; k < bytes; k++) ((volatile char *)to)[k] = value;
    return to;
}
#else
#define API(type, name) extern "C" __attribute__((visibility("default"))) type name
API(int, lanes)(void) { return LANES; }
#endif

typedef double vec __attribute__((vector_size(8 * LANES)));
typedef long long bits __attribute__((vector_size(8 * LANES)));

INLINE vec wide(vec x) { return x; }
INLINE vec wide(double x) { return x - vec{}; }
INLINE double root(double x) { return __builtin_sqrt(x); }
INLINE vec root(vec x)
{
    UNROLL for (int l = 0; l < LANES; l++) x[l] = __builtin_sqrt(x[l]);
    return x;
}
INLINE double trunc_(double x) { return __builtin_trunc(x); }
INLINE vec trunc_(vec x)
{
    UNROLL for (int l = 0; l < LANES; l++) x[l] = __builtin_trunc(x[l]);
    return x;
}
// The place in an axis of n, counted from its end below 0; −1 where there is none.
INLINE int place(double x, int n)
{
    if (x < 0) x += n;
    return x >= 0 && x < n ? (int)x : -1;
}
INLINE double lane(double x, int) { return x; }
INLINE double lane(const vec &x, int l) { return x[l]; }
// Functions for lanes, and for a number by way of lanes.
#define FUNCTION(name) INLINE double name(double x) { return name(wide(x))[0]; }
#define BINARY(name) INLINE double name(double a, double b) { return name(wide(a), wide(b))[0]; }

// NaN if one of them is.
INLINE vec larger(vec a, vec b) { return ((a >= b) | (a != a)) ? a : b; }
INLINE vec smaller(vec a, vec b) { return ((a <= b) | (a != a)) ? a : b; }
INLINE vec where(vec c, vec a, vec b) { return c != 0 ? a : b; }
INLINE double where(double c, double a, double b) { return c != 0 ? a : b; }
INLINE vec equal(vec a, vec b) { return a == b ? wide(1.) : wide(0.); }
INLINE vec greater(vec a, vec b) { return a > b ? wide(1.) : wide(0.); }
INLINE vec at_least(vec a, vec b) { return a >= b ? wide(1.) : wide(0.); }
BINARY(larger) BINARY(smaller) BINARY(equal) BINARY(greater) BINARY(at_least)
INLINE vec abs_(vec x) { return (vec)((bits)x & 0x7fffffffffffffff); }
FUNCTION(abs_)

// e^x, 0 below −708, ∞ above 709: 2^k e^r with |r| ≤ ln(2)/2, where the Taylor polynomial of degree 13 is off by 4e-18.
INLINE vec exp_(vec x)
{
    // Adding 1.5 · 2^52 rounds to a whole number, and 1023 is the exponent of 1: the low bits are those of 2^k.
    const double shift = 0x1.8p52 + 1023;
    vec shifted = x * 0x1.71547652b82fep+0 + shift, k = shifted - shift;  // x / ln 2
    // ln 2 in two parts, the first so short that k times it is exact.
    vec r = (x - k * 0x1.62e42fefa2p-1) - k * 0x1.9ef35793c7673p-41;
    // Not Horner's scheme: its 13 steps wait for each other.
    vec r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    vec low = (1. / 2 + r * (1. / 6)) + r2 * (1. / 24 + r * (1. / 120));
    vec middle = (1. / 720 + r * (1. / 5040)) + r2 * (1. / 40320 + r * (1. / 362880));
    vec high = (1. / 3628800 + r * (1. / 39916800)) + r2 * (1. / 479001600 + r * (1. / 6227020800));
    // A product, where adding to the exponent would make a number of NaN.
    vec e = (1 + (r + r2 * (low + r4 * middle + r8 * high))) * (vec)((bits)shifted << 52);
    e = (vec)((bits)e & ~(bits)(x < -708.));
    return x > 709. ? wide(__builtin_inf()) : e;
}
FUNCTION(exp_)

// log(1 + e) for 0 ≤ e ≤ 1: 2 artanh(s) of s = e/(2 + e) ≤ 1/3, whose series ends below the rounding.
NOT_INLINE vec log_1_plus(vec e)
{
    vec s = e / (2 + e), s2 = s * s, sum = wide(0.);
    UNROLL for (int k = 35; k > 0; k -= 2) sum = sum * s2 + 2. / k;
    return s * sum;
}
NOT_INLINE vec logaddexp_(vec a, vec b) { return larger(a, b) + log_1_plus(exp_(-abs_(a - b))); }
BINARY(logaddexp_)

#ifndef __wasm__
// Functions of the system's library of mathematics, lane by lane.
#define LIBRARY(name, function)                              \
    INLINE double name(double x) { return function(x); }     \
    INLINE vec name(vec x)                                   \
    {                                                        \
        for (int l = 0; l < LANES; l++) x[l] = function(x[l]); \
        return x;                                            \
    }
LIBRARY(arctan_, __builtin_atan) LIBRARY(cos_, __builtin_cos) LIBRARY(expm1_, __builtin_expm1)
LIBRARY(log_, __builtin_log) LIBRARY(log1p_, __builtin_log1p) LIBRARY(sin_, __builtin_sin)
LIBRARY(tanh_, __builtin_tanh) LIBRARY(erf_, __builtin_erf)
INLINE double power_(double x, double y) { return __builtin_pow(x, y); }
INLINE vec power_(vec x, vec y)
{
    for (int l = 0; l < LANES; l++) x[l] = __builtin_pow(x[l], y[l]);
    return x;
}
#endif

// What of x belongs to real samples: the last register has others beside them.
INLINE vec only(bits real, vec x) { return (vec)((bits)x & real); }
INLINE double fold(vec x)
{
    double sum = 0;
    UNROLL for (int l = 0; l < LANES; l++) sum += x[l];
    return sum;
}

INLINE void put(double *to, double x) { *to = x; }
INLINE void put(vec *to, vec x) { *to = x; }
INLINE void put(vec *to, vec x, bits real) { *to += only(real, x); }

// C = A B by tiles, or C += for samples that are real. A matrix is read with the steps of its rows and columns.
template <int R, int K, class A, class B, class C, class... Real>
INLINE void tile(int r, const A *a, int ai, int ar, const B *b, int br, int bj, C *c, int ci, int cj, Real... real)
{
    decltype(*a * *b) sum[R][K] = {};
    for (int q = 0; q < r; q++, a += ar, b += br)
        UNROLL for (int i = 0; i < R; i++)
            UNROLL for (int j = 0; j < K; j++) sum[i][j] += a[i * ai] * b[j * bj];
    UNROLL for (int i = 0; i < R; i++)
        UNROLL for (int j = 0; j < K; j++) put(c + i * ci + j * cj, sum[i][j], real...);
}
template <int R, class A, class B, class C, class... Real>
INLINE void band(int r, int k, const A *a, int ai, int ar, const B *b, int br, int bj, C *c, int ci, int cj, Real... real)
{
    int j = 0;
    for (; j + 2 <= k; j += 2) tile<R, 2>(r, a, ai, ar, b + j * bj, br, bj, c + j * cj, ci, cj, real...);
    for (; j < k; j++) tile<R, 1>(r, a, ai, ar, b + j * bj, br, bj, c + j * cj, ci, cj, real...);
}
template <class A, class B, class C, class... Real>
NOT_INLINE void product(int m, int r, int k, const A *a, int ai, int ar, const B *b, int br, int bj,
                                              C *c, int ci, int cj, Real... real)
{
    int i = 0;
    for (; i + 4 <= m; i += 4) band<4>(r, k, a + i * ai, ai, ar, b, br, bj, c + i * ci, ci, cj, real...);
    for (; i < m; i++) band<1>(r, k, a + i * ai, ai, ar, b, br, bj, c + i * ci, ci, cj, real...);
}

// The next array, where memory ends so far: in doubles, because sizes may be too large for it.
template <class P> INLINE void take(double &end, P *&to, double count)
{
    unsigned long long begin = ((unsigned long long)end + 63) / 64 * 64;
    to = (P *)(__UINTPTR_TYPE__)begin;
    end = begin + count * sizeof(P);
}
// Samples side by side; the last one stands for those that are missing.
static void pack(const double *from, vec *to, int samples, int rest)
{
    for (int i = 0; i * LANES < samples; i++)
        for (int k = 0; k < rest; k++) {
            vec x;
            UNROLL for (int l = 0; l < LANES; l++) {
                int sample = i * LANES + l < samples ? i * LANES + l : samples - 1;
                x[l] = from[sample * rest + k];
            }
            to[i * rest + k] = x;
        }
}
INLINE bits real_samples(int i, int samples)
{
    bits real;
    UNROLL for (int l = 0; l < LANES; l++) real[l] = i * LANES + l < samples ? -1 : 0;
    return real;
}
