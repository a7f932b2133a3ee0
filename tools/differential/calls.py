"""Random calls of the rows of the registry, run in torch.

A call is a Lua expression (its text), and what PyTorch gives for it. The
rest is run.py's.
"""

import collections
import os
import random
import re
import subprocess
import warnings

import torch

warnings.simplefilter('ignore')
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FORM_FUNCTION, FORM_METHOD, FORM_INPLACE, FORM_OUT = 1, 2, 4, 8

DTYPES = {n: getattr(torch, n) for n in """
    bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64
    complex32 complex64 complex128 uint16 uint32 uint64""".split()}
NAMES = {d: n for n, d in DTYPES.items()}
COMMON = """
    bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float32 float32
    float64 float64 complex64 complex128""".split()

# Not compared, each for a reason that is no difference: results are random or
# not initialised or vectors free in sign, names mean another thing, arguments
# are labels, positions or lengths that random numbers never are.
SKIPPED = re.compile('|'.join(r'''
    .*rand.* normal bernoulli poisson multinomial binomial
    .*dropout[123]?d? gumbel_softmax
    rrelu empty.* new_empty.* is_set_to item numel element_size data_ptr
    set_.* resize.* requires_grad.* detach_ clone to to_.* type_as
    .*cross_entropy .*nll_loss .*margin_loss ctc_loss embedding.*
    .*unpool.* lstm.* gru.* rnn.* .*pool.*_with_indices range arange
    asarray tensor gelu any all stride size unique.* segment_reduce
    narrow histogram.* .*_backward where slice.* index_put.* stft istft
    put put_ combinations grad.* norm uniform_ cauchy_ log_normal_
    bernoulli_ exponential_ normal_ geometric_ random_ type
    eig eigh eigvals .*_lowrank
    unravel_index one_hot unfold lu.* multi_head.* scaled_dot.* bincount
    repeat_interleave searchsorted bucketize tensor_split mT
'''.split()))
POSITIONS = {
    'argmax',
    'argmin',
    'argsort',
    'nonzero',
    'searchsorted',
    'bucketize',
    'tril_indices',
    'triu_indices',
}
TIES = {
    'sort',
    'argsort',
    'topk',
    'kthvalue',
    'mode',
    'median',
    'nanmedian',
    'cummax',
    'cummin',
    'msort',
}
AS_ARGUMENTS = {
    'block_diag',
    'broadcast_tensors',
    'cartesian_prod',
}  # torch takes the list as arguments
THEMES = {'fft', 'linalg', 'special'}
# torch.qr and its kin only say that they are in torch.linalg now.
REMOVED = {'cholesky', 'qr', 'lstsq', 'solve', 'eig', 'matrix_rank'}
INDEX_NAMES = {'index', 'indices'}


class Impossible(Exception):
    """A parameter that no argument can be made for."""


# ---- the registry ----


class Row:
    """One line of the list: the schema taken apart."""

    def __init__(self, line):
        self.row, self.name, forms, self.signature, dtypes = line.rstrip(
            '\n'
        ).split('\t')
        self.forms, self.dtypes = int(forms), dtypes.split(',')
        inner = re.match(r'[\w.]+\((.*)\) -> ', self.signature).group(1)
        self.params, keyword = [], False
        for text in filter(None, re.split(r', (?![^\[]*\])', inner)):
            if text == '*':
                keyword = True
                continue
            m = re.match(r'(\S+) (\w+)(?:=(.*))?$', text)
            if not m:
                raise Impossible(text)
            self.params.append(
                (
                    m[1].rstrip('?'),
                    m[2],
                    m[3] is not None or m[1].endswith('?'),
                    keyword,
                )
            )

    def theme(self):
        """('fft', 'fft2') of a row fft_fft2, which is la.fft.fft2."""
        theme, _, rest = self.name.partition('_')
        return (theme, rest) if theme in THEMES and rest else (None, self.name)

    def lua_function(self):
        theme, name = self.theme()
        return 'la.%s.%s' % (theme, name) if theme else 'la.' + name

    def torch_function(self):
        theme, name = self.theme()
        if theme:
            return getattr(getattr(torch, theme), name, None)
        spaces = (torch.nn.functional, torch, torch.special, torch.linalg)
        if self.name in REMOVED:
            spaces = (torch.linalg,)
        for space in spaces:
            f = getattr(space, self.name, None)
            if callable(f):
                return f
        return getattr(torch.Tensor, self.name, None)


def lua(args, cpu=None, **kw):
    env = dict(
        os.environ, LUA_CPATH=os.path.join(ROOT, 'build', '?.so') + ';;'
    )
    if cpu:
        env['LUNARRAY_CPU'] = cpu
    return subprocess.run(
        ['lua5.4', os.path.join(HERE, 'calls.lua')] + args,
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        **kw
    )


def registry(pattern):
    rows = []
    for line in lua(['list']).stdout.splitlines():
        try:
            row = Row(line)
        except Impossible:
            continue
        if SKIPPED.fullmatch(row.name) or not re.search(pattern, row.name):
            continue
        if row.forms & (FORM_FUNCTION | FORM_METHOD) and row.torch_function():
            rows.append(row)
    return sorted(rows, key=lambda r: r.row)


# ---- arguments: a value for torch and the text of it for Lua ----


class Arg:
    def __init__(self, value, text):
        self.value, self.text = value, text


def elements(rng, dtype, n):
    """n values of the dtype, contiguous; some special ones among them."""
    if dtype == torch.bool:
        return torch.tensor(
            [rng.random() < 0.5 for _ in range(n)], dtype=dtype
        )
    if dtype.is_complex:
        return torch.complex(
            elements(rng, torch.float64, n), elements(rng, torch.float64, n)
        ).to(dtype)
    if not dtype.is_floating_point:
        low = 0 if NAMES[dtype].startswith('u') else -9
        return torch.tensor(
            [rng.randint(low, 9) for _ in range(n)], dtype=torch.int64
        ).to(dtype)
    special = rng.random() < 0.25
    pick = lambda: (
        rng.choice(
            [0.0, -0.0, 1.0, -1.0, float('inf'), -float('inf'), float('nan')]
        )
        if special and rng.random() < 0.3
        else rng.choice(
            [rng.uniform(-3, 3), rng.uniform(0, 1), rng.randint(-4, 4)]
        )
    )
    return torch.tensor([pick() for _ in range(n)], dtype=torch.float64).to(
        dtype
    )


def hexadecimal(t):
    return (
        bytes(t.contiguous().view(-1).view(torch.uint8).tolist()).hex()
        if t.numel()
        else ''
    )


def tensor(rng, dtype, sizes, values=None, lua_values=None):
    """Those sizes in a random layout: contiguous, permuted, strided."""
    n = 1
    for s in sizes:
        n *= s
    order, step = list(range(len(sizes))), 1
    if values is None and rng.random() < 0.4:
        rng.shuffle(order)
    if values is None and rng.random() < 0.2:
        step = 2
    strides, at = [0] * len(sizes), step
    for d in reversed(order):
        strides[d] = at
        at *= max(sizes[d], 1)
    length = n * step + (step - 1)
    data = elements(rng, dtype, length) if values is None else values
    shown = data if lua_values is None else lua_values
    view = data.as_strided(sizes, strides, step - 1)
    text = 'T("%s", "%s", {%s}, {%s}, %d)' % (
        NAMES[dtype],
        hexadecimal(shown),
        ','.join(map(str, sizes)),
        ','.join(map(str, strides)),
        step,
    )
    return Arg(view, text)


def number_text(v):
    if v is None:
        return 'nil'
    if isinstance(v, bool):
        return str(v).lower()
    if isinstance(v, int):
        return str(v)
    return {'inf': '1/0', '-inf': '-1/0', 'nan': '0/0'}.get(repr(v), repr(v))


def list_text(vs):
    return '{' + ', '.join(number_text(v) for v in vs) + '}'


def one_based(d):
    return d + 1 if d >= 0 else d


class Maker:
    """Arguments of one call: shapes and dtypes go together most of the time."""

    def __init__(self, rng, row):
        self.rng, self.row = rng, row
        self.sizes = [
            (
                rng.choice([0, 1, 2, 2, 3, 4])
                if rng.random() < 0.3
                else rng.randint(1, 4)
            )
            for _ in range(rng.choice([0, 1, 1, 2, 2, 3]))
        ]
        allowed = [d for d in COMMON if d in row.dtypes] or row.dtypes
        self.dtype = rng.choice(
            allowed if rng.random() < 0.9 else list(DTYPES)
        )

    def shape(self):
        r = self.rng.random()
        if r < 0.6:
            return list(self.sizes)
        if r < 0.8:
            return [1 if self.rng.random() < 0.3 else s for s in self.sizes][
                self.rng.choice([0, 0, 1]) :
            ]
        return [self.rng.randint(1, 4) for _ in range(self.rng.randint(0, 3))]

    def tensor(self, name):
        rng = self.rng
        if name in INDEX_NAMES:
            sizes = self.shape() if rng.random() < 0.5 else [rng.randint(0, 4)]
            n = 1
            for s in sizes:
                n *= s
            v = torch.tensor(
                [rng.randint(0, 3) for _ in range(n)], dtype=torch.int64
            )
            return tensor(rng, torch.int64, sizes, v, v + 1)
        dtype = DTYPES[
            self.dtype if rng.random() < 0.7 else rng.choice(COMMON)
        ]
        return tensor(
            rng,
            dtype,
            list(self.sizes) if name in ('self', 'input') else self.shape(),
        )

    def number(self, kind):
        rng = self.rng
        v = rng.choice(
            [
                rng.randint(-3, 4),
                round(rng.uniform(-3, 3), 3),
                0.5,
                2,
                rng.random() < 0.5,
            ]
        )
        if kind == 'int':
            v = rng.randint(-1, 4)
        if kind == 'float':
            v = rng.choice(
                [float(rng.randint(0, 3)), round(rng.uniform(-2, 3), 3)]
            )
        return Arg(v, number_text(v))

    def dim(self):
        n = max(len(self.sizes), 1)
        return self.rng.randint(-n, n - 1) if self.rng.random() < 0.95 else n

    def argument(self, kind, name):
        rng = self.rng
        if kind in ('Tensor', 'Array'):
            return (
                self.number('Scalar')
                if kind == 'Array'
                and not self.row.row.endswith('_other')  # a dim there
                and rng.random() < 0.3
                else self.tensor(name)
            )
        if kind == 'Tensor[]':
            all_ = [self.tensor('self') for _ in range(rng.randint(1, 3))]
            return Arg(
                [a.value for a in all_],
                '{' + ', '.join(a.text for a in all_) + '}',
            )
        if kind in ('Scalar', 'int', 'float'):
            return self.number(kind)
        if kind == 'bool':
            return (lambda b: Arg(b, number_text(b)))(rng.random() < 0.5)
        if kind == 'dim':
            return (lambda d: Arg(d, str(one_based(d))))(self.dim())
        if kind == 'dim[]':
            ds = sorted({self.dim() for _ in range(rng.randint(1, 2))})
            return Arg(ds, list_text([one_based(d) for d in ds]))
        if kind == 'index':
            return (lambda i: Arg(i, str(one_based(i))))(rng.randint(-2, 3))
        if kind == 'int[]':
            vs = [
                rng.randint(0, 3)
                for _ in range(rng.randint(1, max(len(self.sizes), 1)))
            ]
            return Arg(vs, list_text(vs))
        if kind == 'dtype':
            return (lambda d: Arg(DTYPES[d], '"%s"' % d))(rng.choice(COMMON))
        raise Impossible(kind)


# ---- calls ----

Call = collections.namedtuple('Call', 'row form text want error args')


def run_torch(row, form, args, kw, out):
    f = row.torch_function()
    if form == FORM_INPLACE:
        return getattr(args[0], row.name + '_')(*args[1:], **kw)
    if out is not None:
        kw = dict(kw, out=out)
    if row.name in AS_ARGUMENTS:
        args = args[0]
    return f(*args, **kw)


def results_of(r):
    if isinstance(r, (list, tuple)):
        return list(r)
    return [r]


def make_call(rng, row):
    """One call of the row, run in torch. Raises Impossible where there is no
    argument for a required parameter."""
    maker, args, words = Maker(rng, row), [], []
    for kind, name, optional, keyword in row.params:
        # a promise (assume_unique) that random elements break
        if name == 'assume_unique':
            continue
        if optional and (rng.random() < 0.6 or kind == 'str'):
            keyword = None
        if keyword is None:
            continue
        try:
            a = maker.argument(kind, name)
        except Impossible:
            if optional:
                continue
            raise
        if keyword or optional:
            words.append((name, a))
        else:
            args.append(a)
    form = rng.choice([FORM_FUNCTION] * 6 + [FORM_INPLACE, FORM_OUT])
    if not row.forms & form or (
        form == FORM_INPLACE
        and not (args and isinstance(args[0].value, torch.Tensor))
    ):
        form = FORM_FUNCTION
    out = out_text = None
    if form == FORM_INPLACE and not hasattr(torch.Tensor, row.name + '_'):
        form = FORM_FUNCTION
    if form == FORM_OUT:
        name = rng.choice(COMMON)
        out, out_text = (
            torch.empty(0, dtype=DTYPES[name]),
            'la.zeros({0}, {dtype = "%s"})' % name,
        )
    if not row.forms & FORM_FUNCTION and form == FORM_FUNCTION:
        form = FORM_METHOD
    keywords = ['%s = %s' % (n, a.text) for n, a in words] + (
        ['out = ' + out_text] if out_text else []
    )
    texts = [a.text for a in args]
    trailer = ['{' + ', '.join(keywords) + '}'] if keywords else []
    if form in (FORM_INPLACE, FORM_METHOD):
        text = '(%s):%s%s(%s)' % (
            texts[0],
            row.name,
            '_' if form == FORM_INPLACE else '',
            ', '.join(texts[1:] + trailer),
        )
    else:
        text = '%s(%s)' % (row.lua_function(), ', '.join(texts + trailer))
    kept = [a.value for a in args] + [a.value for _, a in words]
    try:
        want, error = [
            w.detach().clone() if isinstance(w, torch.Tensor) else w
            for w in results_of(
                run_torch(
                    row,
                    form,
                    [a.value for a in args],
                    {n: a.value for n, a in words},
                    out,
                )
            )
        ], None
    except (
        RuntimeError,
        TypeError,
        IndexError,
        ValueError,
        NotImplementedError,
        ZeroDivisionError,
        AssertionError,
        AttributeError,
        KeyError,
        OverflowError,
    ) as e:
        want, error = None, str(e).split('\n')[0]
    return Call(row, form, text, want, error, kept)


def calls_of_seed(seed, rows, count):
    """'count' calls, the rows in turn; of refused ones a few."""
    rng, calls = random.Random(seed), []
    torch.manual_seed(seed)
    impossible = set()
    while len(calls) < count and len(impossible) < len(rows):
        for row in rows:
            if row.row in impossible:
                continue
            try:
                tries = [make_call(rng, row)]
            except Impossible:
                impossible.add(row.row)
                continue
            while tries[-1].error and len(tries) < 8 and rng.random() < 0.875:
                tries.append(make_call(rng, row))
            # about the form of the call: it says nothing on lunarray
            if tries[-1].error and re.search(
                r'invalid combination of arguments|unexpected keyword|'
                r'takes \d+ positional|must be|descriptor|'
                r'missing \d+ required|multiple values|not implemented for',
                tries[-1].error,
            ):
                continue
            calls.append(tries[-1])
    return calls[:count]
