"""Lanterns: what burns, and for how long."""

from dataclasses import dataclass

MINUTES_PER_WICK = 40


def burning_time(wicks: int, wind: float) -> int:
    """Minutes that a lantern burns; wind shortens it."""
    return max(0, round(wicks * MINUTES_PER_WICK * (1 - wind)))


@dataclass
class Lantern:
    """A paper lantern on a pole."""

    name: str
    wicks: int = 1

    def light(self, wind: float = 0.0) -> str:
        """Light it and say how long it will last."""
        return f"{self.name}: {self.minutes(wind)} min"

    def minutes(self, wind: float) -> int:
        """How long it lasts."""
        return burning_time(self.wicks, wind)


class RiverLantern(Lantern):
    """A lantern that floats: water shelters it from half of the wind."""

    def minutes(self, wind: float) -> int:
        """How long it lasts on the water."""
        return burning_time(self.wicks, wind / 2)
