// Loss, gradient and Hessian-vector product of the multi-head classifier (mhalib/models/multihead.py) in WebAssembly,
// in doubles.
//
// Every number below is a `pair`: the same number of two samples side by side, in one register. So the code reads
// like the formula of one sample, and no size needs to be even; for an odd n the last pair has an empty half.
//
// IEEE arithmetic in a fixed order, no fused operations: the same bits on every machine. `make kernel` compiles.
#pragma STDC FP_CONTRACT OFF
#include <wasm_simd128.h>

typedef double pair __attribute__((vector_size(16)));
typedef long long bits __attribute__((vector_size(16)));

// Inlined with constant arguments, a loop over them becomes straight code whose sums stay in registers.
#define INLINE static inline __attribute__((always_inline))
#define NOT_INLINE static __attribute__((noinline))
#define EXPORT(name) __attribute__((export_name(#name))) name
#define UNROLL _Pragma("unroll")

enum { ROWS = 4, COLUMNS = 2 };  // of a tile: 8 sums, 6 factors and a product are what 16 registers hold

static int n, T, d, H;
static int pairs, p;  // pairs of samples; parameters of a head

// What JavaScript writes and reads, parameters in the order of `ravel`.
static double *tokens_, *labels_, *relevant_, *theta_, *gradient_, *direction_, *product_;

// The same, paired. `real` is 1 for a sample and 0 for the empty half of the last pair; `sum` becomes the gradient or
// the product.
static pair *X2, *y2, *real2, *theta2, *direction2, *sum2;

// Of one pair of samples: what every head adds to `sum`, and what one head computes on the way.
static pair *features, *XW, *dSX;

// Of one pair of samples and every head: A and dS, and their derivatives along the direction. Until `attend` and
// `attend_along` overwrite them, they hold scores and readings.
static pair *A2, *dS2, *A2_along, *dS2_along;

// --- elementwise functions ---------------------------------------------------------------------------------------

INLINE pair both(double x) { return (pair){x, x}; }
INLINE pair larger(pair a, pair b) { return (pair)wasm_f64x2_pmax((v128_t)a, (v128_t)b); }
INLINE pair size_of(pair a) { return (pair)wasm_f64x2_abs((v128_t)a); }
INLINE pair where(bits mask, pair a, pair b) { return (pair)wasm_v128_bitselect((v128_t)a, (v128_t)b, (v128_t)mask); }

// e^x for x ≤ 0, 0 below −708 and at −∞, NaN at NaN: 2^k e^r with |r| ≤ ln(2)/2, where the Taylor polynomial of
// degree 13 is off by 4e-18.
INLINE pair exponential(pair x)
{
    // Adding 1.5 · 2^52 rounds to a whole number, and 1023 is the exponent of 1: the low bits are those of 2^k.
    const double shift = 0x1.8p52 + 1023;
    pair shifted = x * 0x1.71547652b82fep+0 + shift, k = shifted - shift;  // x / ln 2
    // ln 2 in two parts, the first so short that k times it is exact.
    pair r = (x - k * 0x1.62e42fefa2p-1) - k * 0x1.9ef35793c7673p-41;
    // Not Horner's scheme: its 13 steps wait for each other.
    pair r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    pair low = (1. / 2 + r * (1. / 6)) + r2 * (1. / 24 + r * (1. / 120));
    pair middle = (1. / 720 + r * (1. / 5040)) + r2 * (1. / 40320 + r * (1. / 362880));
    pair high = (1. / 3628800 + r * (1. / 39916800)) + r2 * (1. / 479001600 + r * (1. / 6227020800));
    pair e_r = 1 + (r + r2 * (low + r4 * middle + r8 * high));
    // A product, where adding to the exponent would make a number of NaN.
    pair e = e_r * (pair)((bits)shifted << 52);
    return (pair)((bits)e & ~(bits)(x < -708));
}

// log(1 + e) for 0 ≤ e ≤ 1: 2 artanh(s) of s = e/(2 + e) ≤ 1/3, whose series ends below the rounding.
INLINE pair log_1_plus(pair e)
{
    pair s = e / (2 + e), s2 = s * s, sum = both(0);
    UNROLL for (int k = 35; k > 0; k -= 2) sum = sum * s2 + 2. / k;
    return s * sum;
}

// ℓ′(z) = −1/(1 + e^z) and ℓ″(z) of ℓ(z) = log(1 + e^−z), from z and e = e^−|z|.
INLINE pair slope(pair z, pair e) { return -where(z < 0, both(1), e) / (1 + e); }
INLINE pair curvature(pair e) { return e / (1 + e) / (1 + e); }

// --- products of small matrices ----------------------------------------------------------------------------------

// C = A B by tiles. A factor is read with the strides of its rows and columns, so a transpose is an exchange of two
// numbers; C (m, k) is written row by row.
typedef struct {
    const pair *at;
    int row, column;
} matrix;

INLINE void tile(int rows, int columns, int r, matrix A, matrix B, pair *C, int k)
{
    pair sum[ROWS][COLUMNS] = {};
    for (int q = 0; q < r; q++, A.at += A.column, B.at += B.row)
        UNROLL for (int i = 0; i < rows; i++)
            UNROLL for (int j = 0; j < columns; j++) sum[i][j] += A.at[i * A.row] * B.at[j * B.column];
    UNROLL for (int i = 0; i < rows; i++)
        UNROLL for (int j = 0; j < columns; j++) C[i * k + j] = sum[i][j];
}

INLINE void band(int rows, int r, int k, matrix A, matrix B, pair *C)
{
    int j = 0;
    for (; j + COLUMNS <= k; j += COLUMNS, B.at += COLUMNS * B.column) tile(rows, COLUMNS, r, A, B, C + j, k);
    for (; j < k; j++, B.at += B.column) tile(rows, 1, r, A, B, C + j, k);
}

NOT_INLINE void multiply(int m, int r, int k, matrix A, matrix B, pair *C)
{
    int i = 0;
    for (; i + ROWS <= m; i += ROWS, A.at += ROWS * A.row) band(ROWS, r, k, A, B, C + i * k);
    for (; i + 2 <= m; i += 2, A.at += 2 * A.row) band(2, r, k, A, B, C + i * k);
    for (; i < m; i++, A.at += A.row) band(1, r, k, A, B, C + i * k);
}

INLINE matrix rows(const pair *M, int columns) { return (matrix){M, columns, 1}; }
INLINE matrix transposed(const pair *M, int columns) { return (matrix){M, 1, columns}; }

// --- the model ---------------------------------------------------------------------------------------------------

// S = X W Xᵀ and P = U Xᵀ, for the W at `head` and the U after it.
NOT_INLINE void scores(const pair *X, const pair *head, pair *S, pair *P)
{
    multiply(T, d, d, rows(X, d), rows(head, d), XW);
    multiply(T, d, T, rows(XW, d), transposed(X, d), S);
    multiply(T, d, T, rows(head + d * d, d), transposed(X, d), P);
}

// From derivatives with respect to scores and readings to those with respect to W and U: Xᵀ dS X and dP X.
NOT_INLINE void pull(const pair *X, const pair *dS, const pair *dP, pair *head)
{
    multiply(T, T, d, rows(dP, T), rows(X, d), head + d * d);
    multiply(T, T, d, rows(dS, T), rows(X, d), dSX);
    multiply(d, T, d, transposed(X, d), rows(dSX, d), head);
}

// Σ_t v_t, where v = Σ_j A P; from S and P it leaves A = softmax(S) and dS = A (P − v) in their place.
NOT_INLINE pair attend(pair *A, pair *dS)
{
    pair logit = both(0);
    for (int t = 0; t < T; t++, A += T, dS += T) {
        pair top = A[0], total = both(0), v = both(0);
        for (int j = 1; j < T; j++) top = larger(top, A[j]);
        for (int j = 0; j < T; j++) {
            A[j] = exponential(A[j] - top);
            total += A[j];
            v += A[j] * dS[j];
        }
        pair share = 1 / total;
        v *= share;
        for (int j = 0; j < T; j++) {
            A[j] *= share;
            dS[j] = A[j] * (dS[j] - v);
        }
        logit += v;
    }
    return logit;
}

// The derivative of Σ_t v_t; from those of S and P it leaves those of A and dS in their place.
NOT_INLINE pair attend_along(const pair *A, const pair *dS, pair *A_along, pair *dS_along)
{
    pair logit = both(0);
    for (int t = 0; t < T; t++, A += T, dS += T, A_along += T, dS_along += T) {
        pair mean = both(0), v = both(0);
        for (int j = 0; j < T; j++) {
            mean += A[j] * A_along[j];
            v += dS[j] * A_along[j] + A[j] * dS_along[j];
        }
        for (int j = 0; j < T; j++) {
            pair away = A_along[j] - mean;
            A_along[j] = A[j] * away;
            dS_along[j] = dS[j] * away + A[j] * (dS_along[j] - v);
        }
        logit += v;
    }
    return logit;
}

// Adds Σ g ∇(√H Φ) of one pair of samples to the gradient, and returns their ℓ(z).
INLINE pair add_gradient(int i)
{
    const pair *X = X2 + i * T * d;
    double root = __builtin_sqrt(H);
    pair logit = both(0);
    for (int h = 0; h < H; h++) {
        scores(X, theta2 + h * p, A2, dS2);
        logit += attend(A2, dS2);
        pull(X, dS2, A2, features + h * p);
    }
    pair z = y2[i] * logit / root, e = exponential(-size_of(z));
    pair g = real2[i] * y2[i] * slope(z, e) / (n * root);
    for (int k = 0; k < H * p; k++) sum2[k] += g * features[k];
    // z − z is 0, or NaN where the run has diverged: at z = +∞ the loss alone would be an innocent 0.
    return real2[i] * (larger(both(0), -z) + log_1_plus(e) + (z - z));
}

// Adds the derivative of Σ g ∇(√H Φ) along the direction: both factors change, and g with the logit of all heads.
INLINE void add_product(int i)
{
    const pair *X = X2 + i * T * d;
    double root = __builtin_sqrt(H);
    pair logit = both(0), logit_along = both(0);
    for (int h = 0; h < H; h++) {
        int at = h * T * T;
        scores(X, theta2 + h * p, A2 + at, dS2 + at);
        logit += attend(A2 + at, dS2 + at);
        scores(X, direction2 + h * p, A2_along + at, dS2_along + at);
        logit_along += attend_along(A2 + at, dS2 + at, A2_along + at, dS2_along + at);
    }
    pair z = y2[i] * logit / root, e = exponential(-size_of(z));
    pair g = real2[i] * y2[i] * slope(z, e) / (n * root);
    pair g_along = real2[i] * curvature(e) * logit_along / ((double)n * H);  // y² = 1
    for (int k = 0; k < H * T * T; k++) {
        A2_along[k] = g * A2_along[k] + g_along * A2[k];
        dS2_along[k] = g * dS2_along[k] + g_along * dS2[k];
    }
    for (int h = 0; h < H; h++) pull(X, dS2_along + h * T * T, A2_along + h * T * T, features + h * p);
    for (int k = 0; k < H * p; k++) sum2[k] += features[k];
}

// Σ of the weights on relevant tokens, over the queries and heads of one pair of samples.
INLINE pair relevant_weight(int i)
{
    const double *first = relevant_ + 2 * i * T, *second = first + T;
    pair sum = both(0);
    for (int h = 0; h < H; h++) {
        scores(X2 + i * T * d, theta2 + h * p, A2, dS2);
        attend(A2, dS2);
        for (int t = 0; t < T; t++)
            for (int j = 0; j < T; j++) sum += A2[t * T + j] * (pair){first[j], second[j]};
    }
    return sum;
}

// --- what JavaScript calls, at the parameters that it wrote ------------------------------------------------------

static void begin(void)
{
    for (int k = 0; k < H * p; k++) {
        theta2[k] = both(theta_[k]);
        direction2[k] = both(direction_[k]);
        sum2[k] = both(0);
    }
}

static void finish(double *out)
{
    for (int k = 0; k < H * p; k++) out[k] = sum2[k][0] + sum2[k][1];
}

double EXPORT(loss_and_grad)(void)
{
    pair loss = both(0);
    begin();
    for (int i = 0; i < pairs; i++) loss += add_gradient(i);
    finish(gradient_);
    return (loss[0] + loss[1]) / n;
}

// ∇²L(θ) V for the direction V.
void EXPORT(hessian_vector)(void)
{
    begin();
    for (int i = 0; i < pairs; i++) add_product(i);
    finish(product_);
}

// The mean weight on relevant tokens, over samples, heads and queries.
double EXPORT(attention_score)(void)
{
    pair sum = both(0);
    begin();
    for (int i = 0; i < pairs; i++) sum += relevant_weight(i);
    return (sum[0] + sum[1]) / ((double)n * H * T);
}

// --- memory ------------------------------------------------------------------------------------------------------

extern unsigned char __heap_base;  // from the linker: where free memory begins
static unsigned long long end;

static void *take(unsigned long long bytes)
{
    unsigned long long start = (end + 15) / 16 * 16;  // aligned like a pair
    end = start + bytes;
    return (void *)(unsigned long)start;
}

static double *numbers(unsigned long long count) { return take(count * sizeof(double)); }
static pair *many(unsigned long long count) { return take(count * sizeof(pair)); }

static int grow(void)
{
    const unsigned long long page = 65536;
    if (end > page * page) return 0;
    long missing = (long)((end + page - 1) / page) - (long)__builtin_wasm_memory_size(0);
    return missing <= 0 || __builtin_wasm_memory_grow(0, missing) != (unsigned long)-1;
}

INLINE int fits(int size) { return 0 < size && size <= 65536; }  // so that no product of three sizes overflows

// Lays out memory for these sizes; 0 when there is not enough of it.
int EXPORT(prepare)(int samples, int tokens, int dimension, int heads)
{
    if (!fits(samples) || !fits(tokens) || !fits(dimension) || !fits(heads)) return 0;
    n = samples, T = tokens, d = dimension, H = heads, pairs = (n + 1) / 2;
    unsigned long long Td = (unsigned long long)T * d, TT = (unsigned long long)T * T;
    unsigned long long of_head = (unsigned long long)d * d + Td, all = H * of_head;
    p = (int)of_head;
    end = (unsigned long)&__heap_base;
    tokens_ = numbers(n * Td), labels_ = numbers(n);
    relevant_ = numbers(2ull * pairs * T);  // nothing is relevant in the empty half
    theta_ = numbers(all), gradient_ = numbers(all), direction_ = numbers(all), product_ = numbers(all);
    X2 = many(pairs * Td), y2 = many(pairs), real2 = many(pairs);
    theta2 = many(all), direction2 = many(all), sum2 = many(all), features = many(all);
    XW = many(Td), dSX = many(Td);
    A2 = many(H * TT), dS2 = many(H * TT), A2_along = many(H * TT), dS2_along = many(H * TT);
    return grow();
}

double *EXPORT(tokens)(void) { return tokens_; }
double *EXPORT(labels)(void) { return labels_; }
double *EXPORT(relevant)(void) { return relevant_; }
double *EXPORT(theta)(void) { return theta_; }
double *EXPORT(gradient)(void) { return gradient_; }
double *EXPORT(direction)(void) { return direction_; }
double *EXPORT(product)(void) { return product_; }

// To be called when tokens and labels are written: pairs the samples.
void EXPORT(loaded)(void)
{
    int Td = T * d;
    for (int i = 0; i < pairs; i++) {
        int second = 2 * i + 1 < n;
        const double *a = tokens_ + 2 * i * Td, *b = a + Td;
        for (int k = 0; k < Td; k++) X2[i * Td + k] = (pair){a[k], second ? b[k] : 0};
        y2[i] = (pair){labels_[2 * i], second ? labels_[2 * i + 1] : 0};
        real2[i] = (pair){1, second};
    }
}
