"""The evening: which lanterns are lit, in which order."""

from lantern.lights import Lantern, RiverLantern


class Festival:
    """Lanterns of one evening."""

    def __init__(self, wind: float) -> None:
        self.wind = wind
        self.lanterns: list[Lantern] = []

    def add(self, lantern: Lantern) -> "Festival":
        """Put one more on the list."""
        self.lanterns.append(lantern)
        return self

    def open(self) -> list[str]:
        """Light all of them."""
        return [lantern.light(self.wind) for lantern in self.lanterns]


def plan_evening(names: list[str], wind: float) -> Festival:
    """A festival with a pole lantern for each name and one on the river."""
    festival = Festival(wind)
    for name in names:
        festival.add(Lantern(name))
    return festival.add(RiverLantern("the river", wicks=2))
