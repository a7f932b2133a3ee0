"""Cells of pandas as JSON has them; gaps are null."""
import math

import numpy as np
import pandas as pd


def plain(v):
    if v is None or v is pd.NaT or v is pd.NA:
        return None
    if isinstance(v, (float, np.floating)):
        if math.isnan(v):
            return None
        return str(float(v)) if math.isinf(v) else float(v)
    if isinstance(v, (bool, np.bool_)):
        return bool(v)
    if isinstance(v, (int, np.integer)):
        return int(v)
    if isinstance(v, pd.Timestamp):
        return str(v)[:10] if v == v.normalize() else str(v)
    return str(v)
