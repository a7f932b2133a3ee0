#!/usr/bin/env python3
"""Records for la.frame, by pandas 3:

    python3 modules/frame/spec/golden/record.py

Writes two tables (sales.csv, people.csv) and pandas.ndjson next to itself: a
line per case, {"lua": an expression, "names", "columns"}; the expression makes
a frame of f (sales), g (people) and F (la.frame), the rest is what pandas has.
A column is a list, gaps are null. Infinities are the texts "inf" and "-inf".
"""
import json
import os

import numpy as np
import pandas as pd

from plain import plain

here = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(11)
N = 60

f = pd.DataFrame({
    "city": rng.choice(["Bonn", "Kiel", "Ulm", "Äthen", "a,b"], N),
    "id": rng.integers(1, 9, N),
    "x": np.round(rng.normal(size=N), 3),
    "y": rng.integers(-50, 50, N),
    "ok": rng.random(N) < 0.5,
    "when": pd.to_datetime("2024-01-01")
    + pd.to_timedelta(np.sort(rng.integers(0, 90, N)), unit="D"),
})
f.loc[rng.choice(N, 9, replace=False), "x"] = np.nan
f.loc[rng.choice(N, 6, replace=False), "city"] = None
g = pd.DataFrame({"city": ["Ulm", "Bonn", "Rom", "Bonn"],
                  "head": ["Ann", "Bo", "Cy", "Di"], "x": [1.5, 2.5, 3.5, 4.5]})
f.to_csv(os.path.join(here, "sales.csv"), index=False)
g.to_csv(os.path.join(here, "people.csv"), index=False)

records = []


def case(lua, df):
    if isinstance(df, pd.Series):
        df = df.to_frame("v")
    columns = {str(c): [plain(v) for v in df[c]] for c in df.columns}
    records.append({"lua": lua, "names": [str(c) for c in df.columns],
                    "columns": columns})


def column(lua, s):
    case("F{v = %s}" % lua, pd.Series(s).reset_index(drop=True))


# ---- filters, orders ----
case("f:filter(f.x:gt(0.2))", f[f.x > 0.2])
case("f:filter(f.city:eq('Bonn'))", f[f.city == "Bonn"])
case("f:filter(f.when:ge('2024-02-01'))", f[f.when >= "2024-02-01"])
case("f:filter(f.city:isin{'Ulm', 'Rom'})", f[f.city.isin(["Ulm", "Rom"])])
for keys, down in ((["x"], [False]), (["x"], [True]),
                   (["city", "y"], [False, True]), (["id", "x"], [True, False]),
                   (["ok", "city", "when"], [True, True, False])):
    case("f:sort({%s}, {descending = {%s}})" % (
        ", ".join("'%s'" % k for k in keys),
        ", ".join(str(d).lower() for d in down)),
        f.sort_values(keys, ascending=[not d for d in down], kind="stable"))
case("f:sort('x', {missing = 'first'})",
     f.sort_values("x", na_position="first", kind="stable"))
case("f:unique{'city', 'ok'}", f.drop_duplicates(["city", "ok"]))
case("f:unique({'id'}, {keep = 'last'})", f.drop_duplicates("id", keep="last"))
column("f:duplicated{'city', 'id'}", f.duplicated(["city", "id"]))
case("f:dropna()", f.dropna())
case("f:dropna({'x', 'city'}, {how = 'all'})",
     f.dropna(subset=["x", "city"], how="all"))
case("f:fillna{x = 0, city = 'none'}", f.fillna({"x": 0, "city": "none"}))

# ---- groups ----
words = ["count", "sum", "prod", "mean", "median", "min", "max", "std", "var",
         "first", "last", "nunique"]
for keys in (["city"], ["id"], ["city", "ok"], ["ok", "id"]):
    grouped = f.groupby(keys, dropna=False)
    lua_keys = "{%s}" % ", ".join("'%s'" % k for k in keys)
    for column_name in ("x", "y"):
        r = pd.DataFrame({w: getattr(grouped[column_name], w)()
                          for w in words}).reset_index()
        case("f:group(%s):agg{%s}" % (lua_keys, ", ".join(
            "{'%s', F.%s'%s'}" % (w, w, column_name) for w in words)), r)
    case("f:group(%s):agg{n = F.size(), q = F.quantile('x', 0.3)}" % lua_keys,
         pd.DataFrame({"n": grouped.size(), "q": grouped.x.quantile(0.3)})
         .reset_index())
case("f:group('city', {dropna = true}):sum('x', 'y')",
     f.groupby("city")[["x", "y"]].sum().reset_index())
case("f:group('city', {sort = false}):mean('y')",
     f.groupby("city", sort=False, dropna=False)[["y"]].mean().reset_index())
case("f:group('city'):max('when')",
     f.groupby("city", dropna=False)[["when"]].max().reset_index())
case("f:agg{{'a', F.sum'x'}, {'b', F.median'y'}, {'c', F.std'x'}}",
     pd.DataFrame({"a": [f.x.sum()], "b": [f.y.median()], "c": [f.x.std()]}))
by = f.groupby("city", dropna=False)
transforms = {
    "F.sum'y'": by.y.transform("sum"), "F.mean'x'": by.x.transform("mean"),
    "F.cumsum'x'": by.x.cumsum(), "F.cumprod'x'": by.x.cumprod(),
    "F.cummax'y'": by.y.cummax(), "F.cummin'x'": by.x.cummin(),
    "F.shift'y'": by.y.shift(), "F.shift('x', -2)": by.x.shift(-2),
    "F.diff'y'": by.y.diff(), "F.ffill'x'": by.x.ffill(),
    "F.bfill'x'": by.x.bfill(), "F.number()": by.cumcount() + 1,
    "F.rank'x'": by.x.rank(),
    "F.rank('y', {method = 'min', descending = true})":
    by.y.rank(method="min", ascending=False),
    "F.rank('y', {method = 'dense'})": by.y.rank(method="dense"),
    "F.rank('y', {method = 'first'})": by.y.rank(method="first"),
    "F.rank('y', {method = 'max'})": by.y.rank(method="max"),
    "F.rolling('x', 3, 'mean', {min = 1})":
    by.x.rolling(3, min_periods=1).mean().reset_index(0, drop=True)
    .sort_index(),
}
for lua, s in transforms.items():
    case("f:group'city':with{v = %s}:select'v'" % lua, s.rename("v"))
case("f:group'city':filter(function(p) return #p > 10 end)",
     f.groupby("city", dropna=False).filter(lambda p: len(p) > 10))

# ---- rows ----
for how in ("sum", "mean", "std", "var", "min", "max", "median", "count"):
    column("F.rolling(f.x, 5, '%s', {min = 2})" % how,
           getattr(f.x.rolling(5, min_periods=2), how)())
    column("F.rolling(f.y, 4, '%s')" % how,
           getattr(f.y.rolling(4, min_periods=4), how)())
    column("F.rolling(f.x, 4, '%s', {center = true, min = 1})" % how,
           getattr(f.x.rolling(4, min_periods=1, center=True), how)())
    column("f:with{v = F.rolling('x', {7, 'day'}, '%s', "
           "{on = 'when'})}.v" % how,
           getattr(f.set_index("when").x.rolling("7D"), how)())
for word in ("cumsum", "cumprod", "cummax", "cummin"):
    column("F.%s(f.x)" % word, getattr(f.x, word)())
column("F.rank(f.x)", f.x.rank())
column("F.diff(f.when)", f.when.diff().dt.total_seconds() / 86400)
column("F.cut(f.y, {-50, -10, 0, 49}, {labels = false})",
       pd.cut(f.y, [-50, -10, 0, 49], labels=False) + 1)
column("F.cut(f.y, {-50, 0, 50}, {right = false, labels = {'low', 'high'}})",
       pd.cut(f.y, [-50, 0, 50], right=False, labels=["low", "high"]))
column("F.qcut(f.y, 4, {labels = false})", pd.qcut(f.y, 4, labels=False) + 1)

# ---- joins, shapes ----
left = f.dropna(subset=["city"])[["city", "id", "x"]].head(20)
for how in ("inner", "left", "right"):
    case("f:dropna('city'):select('city', 'id', 'x'):head(20)"
         ":join(g, 'city', {how = '%s'})" % how,
         left.merge(g, on="city", how=how, suffixes=("", "_right")))
key = g.rename(columns={"city": "town", "x": "id"}).assign(id=[1, 2, 3, 4])
case("f:dropna('city'):select('city', 'id', 'x'):head(20)"
     ":join(g:drop'x':with{id = {1, 2, 3, 4}}:rename{city = 'town'}, "
     "{city = 'town', id = 'id'})",
     left.merge(key, left_on=["city", "id"], right_on=["town", "id"])
     .drop(columns="town"))
case("f:pivot{index = 'city', columns = 'id', values = 'y', agg = F.sum}",
     f.groupby(["city", "id"], dropna=False).y.sum().unstack().reset_index())
case("f:pivot{index = 'id', columns = 'ok', values = 'x', agg = 'mean', "
     "fill = 0}",
     f.pivot_table(index="id", columns="ok", values="x", aggfunc="mean",
                   fill_value=0).reset_index()
     .rename(columns={False: "false", True: "true"}))
case("f:head(7):melt{id_vars = {'id', 'city'}, value_vars = {'x', 'y'}}",
     f.head(7).melt(id_vars=["id", "city"], value_vars=["x", "y"]))
case("F.concat{f:head(3):drop'ok', g}",
     pd.concat([f.head(3).drop(columns="ok"), g]))
case("f:value_counts'id'",
     f.id.value_counts().reset_index()
     .sort_values(["count", "id"], ascending=[False, True]))
case("f:describe():drop'stat'",
     f[["id", "x", "y"]].describe().reset_index(drop=True))

# ---- dates ----
d = pd.Series(pd.to_datetime([
    "2024-02-29 08:30:00", "1969-12-31 23:59:59", None, "2000-01-01",
    "2021-01-03 12:00:00", "1900-03-01", "2400-12-31 01:02:03"],
    format="ISO8601"))
dates = "F.date{'2024-02-29 08:30:00', '1969-12-31 23:59:59', F.gap, " \
    "'2000-01-01', '2021-01-03 12:00:00', '1900-03-01', " \
    "'2400-12-31 01:02:03'}"
for mine, theirs in (("year", d.dt.year), ("month", d.dt.month),
                     ("day", d.dt.day), ("hour", d.dt.hour),
                     ("minute", d.dt.minute), ("second", d.dt.second),
                     ("weekday", d.dt.weekday + 1),
                     ("yearday", d.dt.dayofyear),
                     ("week", d.dt.isocalendar().week.astype("float")),
                     ("quarter", d.dt.quarter)):
    column("(%s).%s" % (dates, mine), theirs)
for form in ("%d.%m.%y %H:%M", "%A %j %B %Y", "%b %a %I %p %%", "%S.%f"):
    column("(%s):format'%s'" % (dates, form), d.dt.strftime(form))
for months in (1, -1, 12, -13):
    column("(%s):add(%d, 'month'):format'%%Y-%%m-%%d %%H:%%M:%%S'"
           % (dates, months),
           (d + pd.DateOffset(months=months)).dt.strftime("%Y-%m-%d %H:%M:%S"))
for unit, freq in (("hour", "h"), ("day", "D"), ("minute", "min")):
    column("(%s):floor('%s'):format'%%Y-%%m-%%d %%H:%%M:%%S'" % (dates, unit),
           d.dt.floor(freq).dt.strftime("%Y-%m-%d %H:%M:%S"))
for unit, freq in (("month", "M"), ("quarter", "Q"), ("year", "Y")):
    column("(%s):floor('%s'):format'%%Y-%%m-%%d'" % (dates, unit),
           d.dt.to_period(freq).dt.start_time.dt.strftime("%Y-%m-%d"))
for unit, rule in (("day", "D"), ("week", "W-MON"), ("month", "MS")):
    r = f.resample(rule, on="when", closed="left", label="left")
    case("f:resample('when', '%s'):agg{{'n', F.size()}, {'s', F.sum'x'}, "
         "{'m', F.mean'y'}}" % unit,
         pd.DataFrame({"n": r.size(), "s": r.x.sum(), "m": r.y.mean()})
         .reset_index())
column("F.date_range('2024-01-31', '2024-12-31', 'month')"
       ":format'%Y-%m-%d'",
       pd.Series([pd.Timestamp("2024-01-31") + pd.DateOffset(months=k)
                  for k in range(12)]).dt.strftime("%Y-%m-%d"))

with open(os.path.join(here, "pandas.ndjson"), "w") as out:
    for r in records:
        out.write(json.dumps(r, ensure_ascii=False, separators=(",", ":"))
                  + "\n")
