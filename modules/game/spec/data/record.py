#!/usr/bin/env python3
"""Calls of la.game with what NumPy and SciPy give: scipy.jsonl."""
import json
import pathlib

import numpy as np
from scipy import ndimage
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation, Slerp

g = np.random.default_rng(7)
lines = []


def tensor(x):
    x = np.asarray(x)
    name = {"b": "bool", "i": "int64", "f": "float64"}[x.dtype.kind]
    data = ["inf" if v == np.inf else v for v in x.ravel().tolist()]
    return {"dtype": name, "shape": list(x.shape), "data": data}


def rec(call, args, expect, **options):
    args = [a if isinstance(a, (int, float)) else tensor(a) for a in args]
    expect = expect if isinstance(expect, tuple) else (expect,)
    lines.append(json.dumps({"call": call, "args": args, "options": options,
                             "expect": [tensor(e) for e in expect]},
                            separators=(",", ":")))


def canonical(q):
    return q * np.where(q[..., 3:] < 0, -1, 1)


def affine(r, t):
    m = np.zeros((len(r), 4, 4))
    m[:, :3, :3], m[:, :3, 3], m[:, 3, 3] = r, t, 1
    return m


def vectors():
    for n in 1, 2, 3, 4, 7:
        a, b = g.normal(size=(5, n)), g.normal(size=(5, n))
        rec("dot", [a, b], (a * b).sum(-1))
        rec("length", [a], np.linalg.norm(a, axis=-1))
        rec("distance", [a, b[0]], np.linalg.norm(a - b[0], axis=-1))
        rec("normalize", [a], a / np.linalg.norm(a, axis=-1, keepdims=True))
        rec("project", [a, b],
            ((a * b).sum(-1) / (b * b).sum(-1))[:, None] * b)
        cos = (a * b).sum(-1) / np.linalg.norm(a, axis=-1) \
            / np.linalg.norm(b, axis=-1)
        if n > 1:
            rec("angle", [a, b], np.arccos(cos))
        unit = b / np.linalg.norm(b, axis=-1, keepdims=True)
        rec("reflect", [a, unit], a - 2 * (a * unit).sum(-1)[:, None] * unit)
    a, b = g.normal(size=(2, 1, 3)), g.normal(size=(4, 3))
    rec("cross", [a, b], np.cross(a, b))


def rotations():
    p, q = Rotation.random(6, rng=1), Rotation.random(6, rng=2)
    a, b = p.as_quat(), q.as_quat()
    v = g.normal(size=(6, 3))
    rec("quat_mul", [a, b], a * 0 + quat_product(a, b))
    rec("quat_rotate", [a, v], p.apply(v))
    rec("quat_to_mat3", [a], p.as_matrix())
    rec("quat_from_mat3", [p.as_matrix()], canonical(a))
    vec = p.as_rotvec()
    angle = np.linalg.norm(vec, axis=-1)
    rec("quat_to_axis_angle", [a], (vec / angle[:, None], angle))
    rec("quat_axis_angle", [vec * 3, angle],
        Rotation.from_rotvec(vec).as_quat(canonical=True))
    for order in "xyz", "zyx", "yxz", "zxz", "xyx":
        angles = g.uniform(-1, 1, size=(4, 3))
        rec("quat_euler", [angles],
            Rotation.from_euler(order, angles).as_quat(canonical=True),
            order=order)
    for t in 0.0, 0.3, 0.5, 1.0:
        want = np.array([
            Slerp([0, 1], Rotation.from_quat([x, y]))(t).as_quat()
            for x, y in zip(a, b)])
        sign = np.sign((want * a).sum(-1, keepdims=True))
        rec("slerp", [a, b, t], want * sign)
    omega = g.normal(size=(6, 3))
    rec("quat_integrate", [a, omega, 0.25],
        signed((Rotation.from_rotvec(omega * 0.25) * p).as_quat(), a))
    s, t = g.uniform(0.5, 2, size=(6, 3)), g.normal(size=(6, 3))
    m = affine(p.as_matrix() * s[:, None, :], t)
    rec("compose", [t, a, s], m)
    rec("decompose", [m], (t, canonical(a), s))
    rec("inverse_affine", [m], np.linalg.inv(m))
    rec("rotation", [a], affine(p.as_matrix(), t * 0))
    rec("transform_points", [m, v],
        np.einsum("nij,nj->ni", m[:, :3, :3], v) + t)
    full = g.normal(size=(6, 4, 4))
    h = np.einsum("nij,nj->ni", full, np.c_[v, np.ones(6)])
    rec("transform_points", [full, v], h[:, :3] / h[:, 3:])
    rec("transform_vectors", [m, v], np.einsum("nij,nj->ni", m[:, :3, :3], v))
    n = np.einsum("nji,nj->ni", np.linalg.inv(full[:, :3, :3]), v)
    rec("transform_normals", [full, v],
        n / np.linalg.norm(n, axis=-1, keepdims=True))
    joints = g.integers(0, 6, size=(6, 3))
    weights = g.dirichlet([1, 1, 1], size=6)
    blend = (weights[..., None, None] * m[joints]).sum(1)
    rec("skin", [v, m, joints + 1, weights],
        np.einsum("nij,nj->ni", blend[:, :3, :3], v) + blend[:, :3, 3])


def signed(q, like):
    """The one of q and -q that a product by a small turn gives."""
    return q * np.sign((q * like).sum(-1, keepdims=True))


def quat_product(a, b):
    ax, ay, az, aw = a.T
    bx, by, bz, bw = b.T
    return np.stack([aw * bx + ax * bw + ay * bz - az * by,
                     aw * by + ay * bw + az * bx - ax * bz,
                     aw * bz + az * bw + ax * by - ay * bx,
                     aw * bw - ax * bx - ay * by - az * bz], -1)


def neighbours():
    for d in 2, 3:
        p = g.uniform(size=(40, d))
        r = 0.25
        lists = cKDTree(p).query_ball_point(p, r, return_sorted=True)
        lists = [[j for j in row if j != i] for i, row in enumerate(lists)]
        starts = np.cumsum([1] + [len(row) for row in lists])
        rec("neighbors", [p, r],
            (starts, np.array(sum(lists, []), dtype=int) + 1))
        q = g.uniform(size=(7, d))
        distance, index = cKDTree(p).query(q, k=5)
        rec("nearest", [p, q, 5], (distance, index + 1))


def fields():
    for shape in (9,), (7, 11), (4, 5, 6):
        mask = g.uniform(size=shape) < 0.12
        mask.flat[3] = True
        rec("distance_field", [mask], ndimage.distance_transform_edt(~mask))


vectors()
rotations()
neighbours()
fields()
path = pathlib.Path(__file__).with_name("scipy.jsonl")
path.write_text("\n".join(lines) + "\n")
