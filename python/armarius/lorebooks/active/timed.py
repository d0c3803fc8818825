"""Sticky, cooldown and delay in messages, as SillyTavern counts them; once and for good as cards have it."""

from collections.abc import Iterable

from armarius.lorebooks.active.entries import Lore, Ready
from armarius.lorebooks.active.result import Effect, State


class Timed:
    """The effects that hold while one turn is judged.

    Args:
        length: Messages of the chat.
    """

    def __init__(self, ready: Ready, state: State, length: int) -> None:
        self.length = length
        self._sticky, self._cooldown = dict(state.sticky), dict(state.cooldown)
        self._done = set(state.done)
        self.sticking: set[str] = set()
        self.cooling: set[str] = set()
        if not ready.timed:
            return
        known = {one.address: one for one in ready.lore if one.timed}
        for address in list(self._sticky):
            self._look(self._sticky, address, known.get(address), self.sticking, "sticky")
        for address in list(self._cooldown):
            self._look(self._cooldown, address, known.get(address), self.cooling, "cooldown")

    def _look(self, effects: dict[str, Effect], address: str, one: Lore | None, holding: set[str], kind: str) -> None:
        """Drop an effect that is over, or taken back because the chat has not grown; else it holds."""
        effect = effects[address]
        if one is None:
            if self.length >= effect.end:
                del effects[address]
            return
        if effect.seal != one.seal or (self.length <= effect.start and not effect.firm):
            del effects[address]
        elif self.length >= effect.end:
            del effects[address]
            if kind == "sticky" and one.entry.timing.cooldown:  # a cooldown counts from the end of its sticky time
                end = self.length + one.entry.timing.cooldown
                self._cooldown[address] = Effect(self.length, end, one.seal, firm=True)
                self.cooling.add(address)
        else:
            holding.add(address)

    def hindered(self, one: Lore) -> str:
        """Why an entry may not be active now, "" when it may."""
        timing = one.entry.timing
        if timing.delay and self.length < timing.delay:
            return f"delayed, {timing.delay - self.length} messages to go"
        if one.address in self.cooling and one.address not in self.sticking:
            return f"cooldown, {self._cooldown[one.address].end - self.length} turns left"
        if timing.once and one.address in self._done:
            return "was active, and is not again"
        return ""

    def kept(self, one: Lore) -> bool:
        """Whether it is active for good."""
        return one.entry.timing.keep and one.address in self._done

    def left(self, one: Lore) -> int:
        """Messages that a sticky entry has left."""
        return self._sticky[one.address].end - self.length

    def after(self, active: Iterable[Lore]) -> State:
        """The state for the next turn."""
        for one in active:
            timing = one.entry.timing
            if timing.sticky:
                self._sticky.setdefault(one.address, Effect(self.length, self.length + timing.sticky, one.seal))
            if timing.cooldown:
                self._cooldown.setdefault(one.address, Effect(self.length, self.length + timing.cooldown, one.seal))
            if timing.once or timing.keep:
                self._done.add(one.address)
        return State(self._sticky, self._cooldown, frozenset(self._done))
