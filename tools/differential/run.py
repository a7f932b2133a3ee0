#!/usr/bin/env python3
"""Random calls of every operation, compared with PyTorch.

    python tools/differential/run.py [--seeds 1-20] [--calls 4000] [--ops REGEX]
                                 [--cpu default,avx2,avx512] [--show 3]

Needs torch in this Python; the module is build/lunarray.so. `make
differential` makes a virtual environment in build/peers and runs this; it is
no part of `make test`.

Calls are made from the schemas of the registry (calls.lua list):
each parameter gets an argument of its type, tensors of all dtypes and layouts
with special values among them. A call that PyTorch refuses is kept one time in
eight, so that refusals are compared too; else another one is tried. Compared
are: refused or not, number of results, dtype, sizes, values. Positions count
from one in Lua and from zero here.

KNOWN holds the numbers of docs/differences.md; whatever fits none is printed as
the Lua expression that shows it, and the exit status is 1.
"""

import argparse
import collections
import re
import sys

import torch

from calls import DTYPES, NAMES, POSITIONS, TIES
from calls import calls_of_seed, lua, registry

# ---- comparison ----

TOLERANCE = {
    torch.float16: (4e-3, 1e-3),
    torch.bfloat16: (3e-2, 1e-2),
    torch.float32: (2e-5, 2e-5),
    torch.float64: (1e-9, 1e-9),
}
REAL = {
    torch.complex32: torch.float16,
    torch.complex64: torch.float32,
    torch.complex128: torch.float64,
}


def wide(t):
    return t.to(torch.complex128) if t.is_complex() else t.to(torch.float64)


def tolerance_of(call, want):
    """That of the shortest dtype that the call computes in."""
    dtypes = [REAL.get(t.dtype, t.dtype) for t in tensors_of(call) + [want]]
    if not any(t in TOLERANCE for t in dtypes[:-1]):
        dtypes.append(torch.float32)  # of integers
    return max((TOLERANCE[d] for d in dtypes if d in TOLERANCE), default=None)


def values_differ(got, want, tolerance):
    if not want.dtype.is_floating_point and not want.dtype.is_complex:
        return got.flatten().tolist() != want.flatten().tolist()
    relative, absolute = tolerance
    got, want = wide(got), wide(want)
    if want.is_complex():
        got, want = torch.view_as_real(got), torch.view_as_real(want)
    return not torch.allclose(
        got,
        want,
        rtol=relative,
        atol=absolute * max(1.0, finite_size(want)),
        equal_nan=True,
    )


def finite_size(t):
    """The largest finite value: cancellation is measured against it."""
    t = t.abs()[t.isfinite()]
    return float(t.max()) if t.numel() else 0.0


def read_tensor(fields):
    dtype = DTYPES[fields[1]]
    sizes = [int(s) for s in fields[2].split(',') if s]
    raw = bytes.fromhex(fields[3]) if len(fields) > 3 else b''
    flat = (
        torch.frombuffer(bytearray(raw), dtype=torch.uint8).view(dtype)
        if raw
        else torch.empty(0, dtype=dtype)
    )
    return flat.reshape(sizes)


def compare(call, lines):
    """None, or (kind, what is different)."""
    if lines and lines[0].startswith('error'):
        return (
            None
            if call.error
            else ('refused', lines[0].split('\t', 1)[1][:200])
        )
    if call.error:
        return 'accepted', call.error[:200]
    if len(lines) != len(call.want):
        return 'count', '%d results, %d in torch' % (
            len(lines),
            len(call.want),
        )
    for k, (line, want) in enumerate(zip(lines, call.want)):
        fields = line.split('\t')
        if not isinstance(want, torch.Tensor):
            if fields[0] == 'value' and fields[1].lower() == str(want).lower():
                continue
            if (
                fields[0] == 'value'
                and isinstance(want, (int, float))
                and not isinstance(want, bool)
            ):
                continue
            return 'value', '%s, torch %s' % (fields[:2], want)
        if fields[0] != 'tensor':
            return 'count', 'no tensor'
        got = read_tensor(fields)
        if got.dtype != want.dtype:
            return 'dtype', '%s, torch %s' % (fields[1], NAMES.get(want.dtype))
        if got.shape != want.shape:
            return 'sizes', '%s, torch %s' % (
                list(got.shape),
                list(want.shape),
            )
        position = call.row.name in POSITIONS or (
            k > 0 and 'Tensor indices' in call.row.signature
        )
        if call.row.name in TIES and (
            position or 'sorted = false' in call.text
        ):
            continue
        if position:
            got = got - 1
        want = want.resolve_conj().resolve_neg()
        if values_differ(got, want, tolerance_of(call, want)):
            return 'value', '%s, torch %s' % (got.tolist(), want.tolist())
    return None


# ---- docs/differences.md ----


def tensors_of(call):
    return [
        t
        for a in call.args
        for t in (a if isinstance(a, list) else [a])
        if isinstance(t, torch.Tensor)
    ]


def has_complex(call):
    return any(t.is_complex() for t in tensors_of(call)) or any(
        isinstance(w, torch.Tensor) and w.is_complex() for w in call.want or []
    )


def has_special(call):
    return any(
        not torch.isfinite(wide(t)).all()
        for t in tensors_of(call)
        if t.numel()
    )


def is_half(call):
    return any(
        t.dtype in (torch.float16, torch.bfloat16, torch.complex32)
        for t in tensors_of(call)
        + [w for w in call.want or [] if isinstance(w, torch.Tensor)]
    )


# Which refusals of lunarray alone are meant, and which of PyTorch alone.
UNFIT = r'overflow|must not be a floating|cannot be converted|negative'
REFUSED = (
    r'not implemented for|no order|floating point|dtype|has to be Long or '
    r'Int|out of bounds|with a bool tensor|reduction dim|has no '
    r'elements|at least|per channel|non-empty dims|out of range|be the same|'
    r'be positive|be cast|floating or complex|Promotion for'
)
ACCEPTED = (
    r'must be (Tensor|tuple|int)|not (float|int|Tensor)|dtype|scalar type|'
    r'[Bb]oolean|Unsupported|without overflow|ASSERT FAILED|supports|'
    r'`shifts` required|not yet implemented|'
    r'[Pp]romot|view size|no dimensions|single memory|not supported|'
    r"not support|can't be cast|same dim|[Ee]xpect"
)
BY_NUMPY = set(
    'logspace polygamma i0 i1 einsum margin_ranking_loss '
    'std_mean var_mean std var pdist cdist mode zeta '
    'bessel_j0 bessel_j1 bessel_y0 bessel_y1'.split()
)


def refused(pattern):
    return lambda c, kind, why: kind == 'refused' and re.search(pattern, why)


def of_rows(names, *kinds):
    return lambda c, kind, why: c.row.name in names and kind in kinds


def is_known_loss(call, kind, why):
    return kind == 'refused' and '_loss' in call.row.name and 'differ' in why


def is_median_of_none(call, kind, why):
    return (
        of_rows({'median', 'nanmedian'}, 'value')(call, kind, why)
        and tensors_of(call)[0].numel() == 0
    )


def is_empty_product(call, kind, why):
    return (
        of_rows({'addmv'}, 'value', 'sizes')(call, kind, why)
        and tensors_of(call)[1].numel() == 0
    )


FACTORED = set(
    """cholesky cholesky_ex cholesky_inverse cholesky_solve det slogdet logdet
    inv inv_ex solve solve_ex solve_triangular lstsq qr ldl_factor ldl_solve
    geqrf householder_product ormqr multi_dot
    matrix_exp tensorinv tensorsolve matrix_power""".split()
)


def is_unspecified_factor(call, kind, why):
    """Infinities or NaN in a matrix, or cholesky_ex of one that has no L."""
    if call.row.name not in FACTORED:
        return False
    if kind == 'accepted':
        return 'singular' in why or 'ASSERT FAILED' in why
    if kind != 'value':
        return False
    if has_special(call):
        return True
    if call.row.name == 'cholesky_inverse':  # its diagonal must be real
        return tensors_of(call)[0].is_complex()
    return call.row.name == 'cholesky_ex' and bool(call.want[1].any())


def is_special_quantile(call, kind, why):
    return (
        of_rows({'quantile', 'nanquantile'}, 'value')(call, kind, why)
        and has_special(call)
    )


def is_special_complex(call, kind, why):
    if kind != 'value' or not has_complex(call):
        return False
    return has_special(call) or not all(
        torch.isfinite(w).all() for w in call.want
    )


def is_least_squares(call, kind, why):
    """Residuals by every driver."""
    return call.row.name == 'lstsq' and kind in ('sizes', 'value')


PROMOTING = {
    'binary_cross_entropy_with_logits',
    'huber_loss',
    'cosine_similarity',
    'cosine_embedding_loss',
    'cdist',
}


VECTORS = set(
    'eig eigh linalg_svd svd svd_lowrank pca_lowrank qr geqrf'.split()
)


def is_phase(call, kind, why):
    """Vectors whose sign is free: the results' sizes agree."""
    return call.row.name in VECTORS and kind == 'value'


def is_special_transform(call, kind, why):
    return (
        call.row.name.startswith('fft_')
        and kind == 'value'
        and has_special(call)
    )


def is_empty_rank(call, kind, why):
    """PyTorch looks at no tolerance where the matrix has no elements."""
    return (
        of_rows({'matrix_rank', 'pinv'}, 'refused', 'sizes')(call, kind, why)
        and tensors_of(call)[0].numel() == 0
    )


COMPARISONS = set('eq ne lt le gt ge isin searchsorted bucketize'.split())


def is_by_value(call, kind, why):
    """Integers against a number or a 0-dim tensor are not rounded to it."""
    tensors = tensors_of(call)
    return (
        call.row.name in COMPARISONS
        and kind == 'value'
        and any(not t.is_floating_point() for t in tensors)
        and (len(tensors) < 2 or any(t.ndim == 0 for t in tensors))
    )


# The numbers of docs/differences.md and what belongs to them.
KNOWN = [
    (1, refused(UNFIT)),
    (2, is_known_loss),
    (3, refused(REFUSED)),
    (4, is_median_of_none),
    (5, of_rows({'bincount', 'trapezoid', 'vander'}, 'dtype')),
    (3, of_rows({'fft_rfftfreq', 'fft_fftfreq'}, 'refused')),
    (3, refused('appears twice|infinite element or NaN|a square matrix')),
    (17, of_rows({'fft_ihfftn', 'fft_ihfft2'}, 'sizes')),
    (3, is_empty_rank),
    (7, is_empty_product),
    (8, is_special_transform),
    (12, is_phase),
    (22, is_by_value),
    (8, is_special_complex),
    (8, is_special_quantile),
    (20, is_least_squares),
    (19, is_unspecified_factor),
    (19, refused('infinite element or NaN')),
    (12, lambda c, kind, why: kind == 'value' and is_half(c)),
    (13, of_rows({'remainder', 'fmod', 'floor_divide'}, 'value')),
    (15, of_rows(BY_NUMPY, 'value', 'dtype')),
    (16, of_rows({'as_strided_scatter'}, 'value', 'refused')),
    (17, lambda c, kind, why: kind == 'accepted' and re.search(ACCEPTED, why)),
    (17, of_rows(PROMOTING, 'dtype')),
    (18, of_rows({'native_layer_norm', 'cov'}, 'dtype')),
    (12, of_rows({'sinc'}, 'value')),
]


def number_of(call, kind, why):
    for no, fits in KNOWN:
        if fits(call, kind, why):
            return no
    return None


# ---- the run ----


def answers(calls, cpu):
    """The lines of each call; fewer lists than calls where lunarray died."""
    p = lua([], cpu, input=''.join(c.text + '\n' for c in calls))
    lists, now = [], []
    for line in p.stdout.splitlines():
        if line == 'end':
            lists.append(now)
            now = []
        else:
            now.append(line)
    return lists, p.returncode


def run_seed(seed, rows, options, tally):
    calls = calls_of_seed(seed, rows, options.calls)
    for cpu in options.cpu.split(','):
        lists, status = answers(calls, cpu)
        if len(lists) < len(calls):
            tally['crash'].append(
                'seed %d, %s: status %d at %s'
                % (seed, cpu, status, calls[len(lists)].text)
            )
        counts = collections.Counter()
        for call, lines in zip(calls, lists):
            found = compare(call, lines)
            if not found:
                counts['agree'] += 1
                counts['refused by both'] += call.error is not None
                continue
            no = number_of(call, *found)
            counts[no or 'unknown'] += 1
            if no is None:
                tally[call.row.row].append(
                    '%s (%s): %s: %s\n      %s'
                    % (found[0], cpu, call.form, found[1], call.text)
                )
        known = ', '.join(
            'no. %d: %d' % (k, v)
            for k, v in sorted(
                (k, v) for k, v in counts.items() if isinstance(k, int)
            )
        )
        print(
            'seed %d %-8s %d calls, %d agree (%d refused by both), %d unknown%s'
            % (
                seed,
                cpu,
                len(calls),
                counts['agree'],
                counts['refused by both'],
                counts['unknown'],
                '; ' + known if known else '',
            )
        )
        sys.stdout.flush()


def main():
    p = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument('--seeds', default='1-3')
    p.add_argument('--calls', type=int, default=4000)
    p.add_argument('--ops', default='.')
    p.add_argument('--cpu', default='default,avx2,avx512')
    p.add_argument('--show', type=int, default=3)
    options = p.parse_args()
    first, _, last = options.seeds.partition('-')
    rows, tally = registry(options.ops), collections.defaultdict(list)
    print('%d rows of the registry' % len(rows))
    for seed in range(int(first), int(last or first) + 1):
        run_seed(seed, rows, options, tally)
    for row, found in sorted(tally.items(), key=lambda kv: -len(kv[1])):
        print('%s: %d' % (row, len(found)))
        for f in found[: options.show]:
            print('  ' + f[:1200])
    sys.exit(1 if tally else 0)


if __name__ == '__main__':
    main()
