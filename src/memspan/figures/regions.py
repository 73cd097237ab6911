"""The regions of an arg max of affine functions: convex polygons, found by cutting a box with straight lines."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Polygon: TypeAlias = NDArray[np.float64]
"""(corners, 2), in order around it; empty where there is no region."""


def regions(
    weights: NDArray[np.float64],
    bias: NDArray[np.float64],
    low: tuple[float, float],
    high: tuple[float, float],
) -> list[Polygon]:
    """For each k the part of the box where weights[k] @ point + bias[k] is the greatest.

    >>> left, right = regions(np.array([[-1.0, 0.0], [1.0, 0.0]]), np.zeros(2), (-1.0, -1.0), (1.0, 1.0))
    >>> float(left[:, 0].max()), float(right[:, 0].min())
    (0.0, 0.0)
    """
    (left, bottom), (right, top) = low, high
    box = np.array([(left, bottom), (right, bottom), (right, top), (left, top)], dtype=np.float64)
    return [_region(weights, bias, k, box) for k in range(len(bias))]


def _region(weights: NDArray[np.float64], bias: NDArray[np.float64], k: int, box: Polygon) -> Polygon:
    polygon = box
    for other in range(len(bias)):
        if other != k and len(polygon):
            polygon = _cut(polygon, polygon @ (weights[k] - weights[other]) + bias[k] - bias[other])
    return polygon


def _cut(polygon: Polygon, lead: NDArray[np.float64]) -> Polygon:
    """The part of a convex polygon where `lead`, known at its corners, is not negative (Sutherland and Hodgman)."""
    if (lead >= 0).all():
        return polygon
    kept: list[NDArray[np.float64]] = []
    for here, there, lead_here, lead_there in zip(
        polygon, np.roll(polygon, -1, axis=0), lead, np.roll(lead, -1), strict=True
    ):
        if lead_here >= 0:
            kept.append(here)
        if (lead_here >= 0) != (lead_there >= 0):
            kept.append(here + (there - here) * lead_here / (lead_here - lead_there))
    return np.array(kept).reshape(-1, 2)
