"""Work with tables in pandas, on one thread: see ../tables.lua."""
import sys
import time

import pandas as pd


def timed(name, fn):
    """Runs fn and prints its processor time."""
    start = time.process_time()
    result = fn()
    print(f"{name}\t{time.process_time() - start:.4f}")
    return result


def memory():
    """Peak of the resident memory in MB."""
    with open("/proc/self/status", encoding="ascii") as f:
        for line in f:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return 0.0


def main():
    folder = sys.argv[1]
    f = timed("read", lambda: pd.read_csv(folder + "/rows.csv"))
    n = len(f)
    ids = f[["id"]].drop_duplicates().reset_index(drop=True)
    ids["v"] = range(1, len(ids) + 1)
    few = pd.DataFrame({"k": range(1000), "w": [float(i) for i in range(1000)]})
    cities = f[["city"]].drop_duplicates().reset_index(drop=True)
    cities["u"] = range(1, len(cities) + 1)
    timed("filter", lambda: f[f.x > 2000])
    timed("group1", lambda: f.groupby("city").agg(
        m=("x", "mean"), s=("y", "sum")))
    timed("group2", lambda: f.groupby(["city", "k"]).agg(
        m=("x", "mean"), s=("y", "sum")))
    timed("sort1", lambda: f.sort_values("x", kind="stable"))
    timed("sort2", lambda: f.sort_values(["city", "x"], kind="stable"))
    joined = timed("join int", lambda: f.merge(ids, on="id"))
    assert len(joined) == n
    timed("join few", lambda: f.merge(few, on="k"))
    timed("join text", lambda: f.merge(cities, on="city"))
    print(f"memory\t{memory():.1f}")


main()
