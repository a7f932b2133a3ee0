/*
** Types and operations of MPI for the dtypes of tensors.
**
** What only moves is bytes. What is reduced has the type of its elements, but
** for float16, bfloat16 and complex32, which MPI does not know: those are
** reduced as float32 by who calls. Minimum and maximum of floating-point
** numbers are operations of our own: those of MPI compare, so that a NaN would
** win or lose by the order in which ranks meet.
*/
#include <math.h>
#include <string.h>

#include "modules/mpi/ranks/module.h"

int64_t mpi_chunk = INT64_C(1) << 30;

/* ---- spans of bytes ---- */

/* Blocks of mpi_chunk bytes and what is left behind them, as one type. */
static int big_type(int64_t n, MPI_Datatype *out)
{
    MPI_Datatype block;
    int lengths[2] = {(int)(n / mpi_chunk), (int)(n % mpi_chunk)};
    MPI_Aint offsets[2] = {0, (MPI_Aint)(n - n % mpi_chunk)};
    int code = MPI_Type_contiguous((int)mpi_chunk, MPI_BYTE, &block);
    if (code) return code;
    MPI_Datatype types[2] = {block, MPI_BYTE};
    code = MPI_Type_create_struct(2, lengths, offsets, types, out);
    MPI_Type_free(&block);
    return code ? code : MPI_Type_commit(out);
}

int mpi_span(int64_t n, span *out)
{
    *out = (span){MPI_BYTE, (int)n, false};
    if (n <= mpi_chunk) return MPI_SUCCESS;
    out->count = 1;
    int code = big_type(n, &out->type);
    out->derived = code == MPI_SUCCESS;
    return code;
}

void mpi_span_free(span *s)
{
    if (s->derived) MPI_Type_free(&s->type);
    s->derived = false;
}

/* ---- operations ---- */

static MPI_Op least_f32, most_f32, least_f64, most_f64;

/* Does a replace b? A NaN in either stays. Equal numbers may be zeros
** of two signs: -0 is the lesser, whichever rank has it. */
static bool wins(double a, double b, bool least)
{
    if (b != b) return false;
    if (a != a) return true;
    if (a == b) return (signbit(a) != 0) == least;
    return least ? a < b : a > b;
}

static void extreme_f32(const float *a, float *b, int n, bool least)
{
    for (int i = 0; i < n; i++)
        if (wins((double)a[i], (double)b[i], least)) b[i] = a[i];
}

static void extreme_f64(const double *a, double *b, int n, bool least)
{
    for (int i = 0; i < n; i++)
        if (wins(a[i], b[i], least)) b[i] = a[i];
}

static void min_f32(void *a, void *b, int *n, MPI_Datatype *unused)
{
    extreme_f32(a, b, *n, true);
}

static void max_f32(void *a, void *b, int *n, MPI_Datatype *unused)
{
    extreme_f32(a, b, *n, false);
}

static void min_f64(void *a, void *b, int *n, MPI_Datatype *unused)
{
    extreme_f64(a, b, *n, true);
}

static void max_f64(void *a, void *b, int *n, MPI_Datatype *unused)
{
    extreme_f64(a, b, *n, false);
}

int mpi_make_operations(void)
{
    int code = MPI_Op_create(min_f32, 1, &least_f32);
    if (!code) code = MPI_Op_create(max_f32, 1, &most_f32);
    if (!code) code = MPI_Op_create(min_f64, 1, &least_f64);
    if (!code) code = MPI_Op_create(max_f64, 1, &most_f64);
    return code;
}

/* Kinds: of which operations exist. */
enum { BOOLS, INTEGERS, FLOATS, COMPLEX };

static int kind_of(const char *dtype, MPI_Datatype *type)
{
    const struct { const char *name; MPI_Datatype type; int kind; } known[] = {
        {"float32", MPI_FLOAT, FLOATS}, {"float64", MPI_DOUBLE, FLOATS},
        {"int64", MPI_INT64_T, INTEGERS}, {"int32", MPI_INT32_T, INTEGERS},
        {"bool", MPI_UINT8_T, BOOLS}, {"uint8", MPI_UINT8_T, INTEGERS},
        {"int8", MPI_INT8_T, INTEGERS}, {"int16", MPI_INT16_T, INTEGERS},
        {"uint16", MPI_UINT16_T, INTEGERS}, {"uint32", MPI_UINT32_T, INTEGERS},
        {"uint64", MPI_UINT64_T, INTEGERS},
        {"complex64", MPI_C_FLOAT_COMPLEX, COMPLEX},
        {"complex128", MPI_C_DOUBLE_COMPLEX, COMPLEX},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strcmp(dtype, known[k].name)) continue;
        *type = known[k].type;
        return known[k].kind;
    }
    return -1;
}

static MPI_Op extreme_of(int kind, bool wide, bool least)
{
    if (kind != FLOATS) return least ? MPI_MIN : MPI_MAX;
    if (wide) return least ? least_f64 : most_f64;
    return least ? least_f32 : most_f32;
}

/* "and" and "or" go bit by bit, which for bools is what the words say. */
bool mpi_reduction(const char *dtype, const char *word, MPI_Datatype *type,
                   MPI_Op *op)
{
    int kind = kind_of(dtype, type);
    if (kind < 0) return false;
    if (!strcmp(word, "sum") || !strcmp(word, "prod")) {
        *op = word[0] == 's' ? MPI_SUM : MPI_PROD;
        return kind != BOOLS;
    }
    if (!strcmp(word, "min") || !strcmp(word, "max")) {
        *op = extreme_of(kind, !strcmp(dtype, "float64"), word[1] == 'i');
        return kind != COMPLEX;
    }
    if (strcmp(word, "and") && strcmp(word, "or")) return false;
    *op = word[0] == 'a' ? MPI_BAND : MPI_BOR;
    return kind == BOOLS || kind == INTEGERS;
}
