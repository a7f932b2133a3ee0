"""Timing as in bench/best.lua."""
import time


def best(name, call, warm, seconds):
    for _ in range(warm):
        call()
    start = time.thread_time()
    call()
    inner = max(1, int(0.002 / (time.thread_time() - start + 1e-7)))
    least, stop = 1e30, time.thread_time() + seconds
    while True:
        t = time.thread_time()
        for _ in range(inner):
            call()
        least = min(least, (time.thread_time() - t) / inner)
        if time.thread_time() > stop:
            break
    print(f"{name}\t{least * 1e6:.2f}", flush=True)
