#!/usr/bin/env python3
"""Random tables for la.frame, by pandas 3:

    python3 modules/frame/spec/golden/random_tables.py [seed] [cases]

Writes random.ndjson next to itself: a line per case, {"setup": Lua that makes
f (and g), "lua": an expression, "names", "columns": what pandas has for it}.
Tables have few rows, many equal values and gaps, and every kind of column.
"""
import json
import os
import sys

import numpy as np
import pandas as pd

from plain import plain

here = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
count = int(sys.argv[2]) if len(sys.argv) > 2 else 150

WORDS = ["a", "b", "c", "Bonn", "Äth", "a,b", "x y", 'q"']
KINDS = ["text", "bool", "int64", "int8", "float64", "float64", "date[day]",
         "date[second]"]
SMALL = ("int8",)
records = []


def number(low, high):
    return int(rng.integers(low, high + 1))


def one_of(values):
    return values[number(0, len(values) - 1)]


def literal(v):
    if v is None or v is pd.NaT or isinstance(v, float) and np.isnan(v):
        return "F.gap"
    if isinstance(v, (bool, np.bool_)):
        return str(v).lower()
    if isinstance(v, (int, float, np.number)):
        return repr(v.item() if isinstance(v, np.number) else v)
    return json.dumps(str(v), ensure_ascii=False)


def column(kind, n):
    gaps = rng.random(n) < 0.2
    if kind == "text":
        return pd.Series([None if gap else one_of(WORDS) for gap in gaps],
                         dtype=object)
    if kind.startswith("date"):
        unit = "D" if kind == "date[day]" else "s"
        span = 40 if unit == "D" else 86400 * 40
        days = pd.Timestamp("2023-12-20") + pd.to_timedelta(
            rng.integers(0, span, n), unit=unit)
        return pd.Series(days.astype("datetime64[s]")).where(~gaps)
    if kind == "bool":
        return pd.Series(rng.random(n) < 0.5)
    if kind == "float64":
        values = np.round(rng.normal(size=n) * 3, number(0, 2))
        return pd.Series(values).mask(gaps)
    return pd.Series(rng.integers(-8, 8, n).astype(kind))


def lua_column(kind, s):
    values = "{" + ", ".join(literal(v) for v in s) + "}"
    if kind == "text":
        return "F.text" + values
    if kind.startswith("date"):
        return "F.date(%s, {unit = '%s'})" % (values, kind[5:-1])
    return "la.tensor(%s, {dtype = '%s'})" % (
        values.replace("F.gap", "0/0"), kind)


def table(letter, names, kinds, n):
    df = pd.DataFrame({c: column(k, n) for c, k in zip(names, kinds)})
    lua = "%s = F{%s}" % (letter, ", ".join(
        "{'%s', %s}" % (c, lua_column(k, df[c])) for c, k in zip(names, kinds)))
    return df, lua


def names_of(columns):
    return "{%s}" % ", ".join("'%s'" % c for c in columns)


def case(setup, lua, df):
    if isinstance(df, pd.Series):
        df = df.to_frame("v")
    records.append({"setup": setup, "lua": lua, "names": list(df.columns),
                    "columns": {c: [plain(v) for v in df[c]] for c in df}})


def widened(s, kind):
    return s.astype("int64") if kind in SMALL else s


# ---- kinds of cases ----

def sorts(df, kinds, setup):
    keys = list(rng.permutation(df.columns)[:2])
    down = [bool(rng.random() < 0.5) for _ in keys]
    where = one_of(["last", "first"])
    case(setup, "f:sort(%s, {descending = {%s}, missing = '%s'})" % (
        names_of(keys), ", ".join(str(d).lower() for d in down), where),
        df.sort_values(keys, ascending=[not d for d in down],
                       na_position=where, kind="stable"))
    case(setup, "f:unique(%s, {keep = 'last'})" % names_of(keys),
         df.drop_duplicates(keys, keep="last"))


def groups(df, kinds, setup):
    key, c = rng.permutation(df.columns)[:2]
    words = ["count", "first", "last", "nunique"]
    if kinds[c] in ("int64", "int8", "float64"):
        words += ["sum", "mean", "median", "std", "min", "max"]
    by = widened(df[c], kinds[c]).groupby(df[key], dropna=False)
    case(setup, "f:group('%s'):agg{%s, {'size', F.size()}}" % (
        key, ", ".join("{'%s', F.%s'%s'}" % (w, w, c) for w in words)),
        pd.DataFrame({w: getattr(by, w)() for w in words}
                     | {"size": by.size()}).reset_index(names=key))
    for lua, s in (("F.shift('%s', -1)" % c, by.shift(-1)),
                   ("F.ffill'%s'" % c, by.ffill()),
                   ("F.count'%s'" % c, by.transform("count"))):
        case(setup, "f:group'%s':with{v = %s}:select'v'" % (key, lua), s)


def rows(df, kinds, setup):
    c = one_of([c for c in df if kinds[c] in ("int64", "int8", "float64")])
    x = widened(df[c], kinds[c])
    how = one_of(["sum", "mean", "min", "max", "std", "median", "count"])
    n = number(1, 5)
    least = number(1, n)
    center = bool(rng.random() < 0.5)
    case(setup, "F{v = F.rolling(f.%s, %d, '%s', {min = %d, center = %s})}" % (
        c, n, how, least, str(center).lower()),
        getattr(x.rolling(n, min_periods=least, center=center), how)())
    ties = one_of(["average", "min", "max", "dense", "first"])
    down = bool(rng.random() < 0.5)
    case(setup, "F{v = F.rank(f.%s, {method = '%s', descending = %s})}" % (
        c, ties, str(down).lower()), x.rank(method=ties, ascending=not down))
    word = one_of(["cumsum", "cumprod", "cummax", "cummin"])
    case(setup, "F{v = F.%s(f.%s)}" % (word, c), getattr(x, word)())


def joins(df, kinds, setup):
    key = df.columns[0]
    other, more = table("g", [key, "other"], [kinds[key], "int64"],
                        number(0, 6))
    left = df.assign(row=range(len(df))).dropna(subset=[key])
    right = other.dropna(subset=[key])
    inner = left.merge(right, on=key).sort_values("row", kind="stable")
    case(setup + " " + more, "f:join(g, '%s')" % key,
         inner.drop(columns="row"))
    found = df.index.isin(inner.row)
    case(setup + " " + more, "f:join(g, '%s', {how = 'semi'})" % key,
         df[found])
    case(setup + " " + more, "f:join(g, '%s', {how = 'anti'})" % key,
         df[~found])


def shapes(df, kinds, setup):
    key = df.columns[0]
    counted = df.groupby(key, dropna=False).size().reset_index(name="count")
    counted["order"] = range(len(counted))
    case(setup, "f:value_counts'%s'" % key, counted.sort_values(
        ["count", "order"], ascending=[False, True]).drop(columns="order"))
    case(setup, "f:dropna({'%s'})" % key, df.dropna(subset=[key]))


while len(records) < count:
    names = ["c%d" % k for k in range(number(2, 4))]
    chosen = [one_of(KINDS) for _ in names]
    chosen[-1] = one_of(["int64", "int8", "float64"])
    frame, made = table("f", names, chosen, number(1, 12))
    one_of([sorts, groups, rows, joins, shapes])(
        frame, dict(zip(names, chosen)), made)

with open(os.path.join(here, "random.ndjson"), "w") as out:
    for r in records:
        out.write(json.dumps(r, ensure_ascii=False, separators=(",", ":"))
                  + "\n")
