#!/usr/bin/env python3
"""Ten tasks with tables for la.frame, and what pandas 3 has for them:

    python3 modules/frame/spec/golden/record_tasks.py

Writes animals.csv and tasks.ndjson next to itself: a line per task, {"task",
"lua", "pandas", "names", "columns"}. Both programs set 'out'; the lines of
both are what a person would write.
"""
import json
import os

import pandas as pd

from plain import plain

here = os.path.dirname(os.path.abspath(__file__))

with open(os.path.join(here, "animals.csv"), "w") as out:
    out.write("""id,day,kind,mass
1,2024-01-01,dog,25
2,2024-01-01,cat,4
3,2024-01-02,dog,
4,2024-01-02,cat,5
5,2024-01-02,owl,1.5
6,2024-01-04,cat,5.5
7,2024-01-04,dog,15
8,2024-01-05,owl,
""")

TASKS = [
    ("read a file with gaps, the mean of each group",
     """f = la.read_csv(path)
out = f:group "kind":mean "mass" """,
     """df = pd.read_csv(path)
out = df.groupby("kind", as_index=False).mass.mean()"""),
    ("several values of each group, the largest first",
     """out = f:group "kind":agg{{"n", F.size()}, {"top", F.max "mass"}}
out = out:sort("top", {descending = true})""",
     """out = df.groupby("kind").agg(n=("mass", "size"), top=("mass", "max"))
out = out.sort_values("top", ascending=False).reset_index()"""),
    ("rows by two conditions",
     """out = f:filter(f.mass:gt(4):logical_and(f.kind:ne "dog"))""",
     """out = df[(df.mass > 4) & (df.kind != "dog")]"""),
    ("the share of each row in its group",
     """out = f:group "kind":with{share = function(g) """
     """return g.mass / F.sum(g.mass) end}""",
     """total = df.groupby("kind").mass.transform("sum")
out = df.assign(share=df.mass / total)"""),
    ("days without rows, too",
     """out = f:resample("day", "day"):agg{n = F.size()}""",
     """out = df.resample("D", on="day").size().reset_index(name="n")"""),
    ("a running mean of three days",
     """out = f:with{m = F.rolling("mass", {3, "day"}, "mean", """
     """{on = "day"})}""",
     """out = df.assign(m=df.rolling("3D", on="day").mass.mean())"""),
    ("a column of another table, with a value where there is none",
     """out = f:join(owners, "kind", {how = "left", """
     """fill = {owner = "none"}})""",
     """out = df.merge(owners, on="kind", how="left")
out = out.fillna({"owner": "none"})"""),
    ("a table of sums",
     """out = f:pivot{index = "kind", columns = "day", values = "id", """
     """agg = "sum", fill = 0}""",
     """out = df.pivot_table("id", "kind", "day", "sum", fill_value=0)
out = out.reset_index()"""),
    ("how many of each class",
     """f.class = F.cut(f.mass, {0, 4, 10, 100}, """
     """{labels = {"small", "middle", "large"}})
out = f:dropna "class":value_counts "class" """,
     """df["class"] = pd.cut(df.mass, [0, 4, 10, 100], """
     """labels=["small", "middle", "large"])
out = df["class"].value_counts().reset_index()"""),
    ("the heaviest of each kind, by month",
     """f.month = f.day:format "%b %Y"
out = f:sort("mass", {descending = true}):unique{"kind", "month"}""",
     """df["month"] = df.day.dt.strftime("%b %Y")
out = df.sort_values("mass", ascending=False, kind="stable")
out = out.drop_duplicates(["kind", "month"])"""),
]

records = []
for task, lua, python in TASKS:
    path = os.path.join(here, "animals.csv")
    df = pd.read_csv(path, parse_dates=["day"])
    owners = pd.DataFrame({"kind": ["cat", "dog"], "owner": ["Bo", "Ann"]})
    env = {"pd": pd, "path": path, "df": df, "owners": owners}
    exec(python, env)
    table = env["out"]
    names = [plain(c) if isinstance(c, pd.Timestamp) else str(c)
             for c in table.columns]
    columns = {n: [plain(v) for v in table[c]]
               for n, c in zip(names, table.columns)}
    records.append({"task": task, "lua": lua, "pandas": python, "names": names,
                    "columns": columns})
with open(os.path.join(here, "tasks.ndjson"), "w") as out:
    for r in records:
        out.write(json.dumps(r, ensure_ascii=False) + "\n")
