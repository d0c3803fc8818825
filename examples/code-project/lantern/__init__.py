"""A lantern festival, planned and lit: the example for the code graph."""

from lantern.festival import Festival
from lantern.lights import Lantern, RiverLantern

__all__ = ["Festival", "Lantern", "RiverLantern"]
