"""What the tests of the model share."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ur_admittance.errors import ModelError


def random_transform(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = Rotation.random(None, rng).as_matrix(), rng.normal(size=3)
    return X


def message(call, *args, **kwargs) -> str:
    with pytest.raises(ModelError) as caught:
        call(*args, **kwargs)
    return str(caught.value)


def calibration(origins: dict) -> str:
    text = "kinematics:\n"
    for link, numbers in origins.items():
        pairs = zip(("x", "y", "z", "roll", "pitch", "yaw"), numbers, strict=True)
        text += f"  {link}:\n" + "".join(f"    {key}: {value}\n" for key, value in pairs)
    return text + "  hash: calib_1\n"
