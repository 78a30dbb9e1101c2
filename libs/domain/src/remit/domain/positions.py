"""Remembering which Triggers were taken, exactly and in bounded space.

A Trigger's position is its sequence in the Trigger stream: unique, rising, never reused. An
aggregate that takes Triggers keeps the positions of the last few. Where it has let go of one it
remembers the highest that it let go, so for every position above that it can still answer with
certainty, and for one below it says that it does not know, and its history must be asked.
"""

from __future__ import annotations

from bisect import bisect_left

from remit.domain.model import Model

KEPT = 128
"""How many positions are remembered. A late Trigger past that costs one look into the history."""


class Positions(Model):
    """The positions an aggregate has taken.

    Attributes:
        kept: The highest ones taken, in rising order.
        forgotten: The highest one that was let go; 0 where none was.
    """

    kept: tuple[int, ...] = ()
    forgotten: int = 0

    def holds(self, position: int) -> bool | None:
        """Say whether ``position`` was taken; None where only the history can tell."""
        index = bisect_left(self.kept, position)
        if index < len(self.kept) and self.kept[index] == position:
            return True
        return None if position <= self.forgotten else False

    def add(self, position: int) -> Positions:
        """Return these positions with ``position`` among them."""
        index = bisect_left(self.kept, position)
        kept = (*self.kept[:index], position, *self.kept[index:])
        if len(kept) <= KEPT:
            return Positions(kept=kept, forgotten=self.forgotten)
        return Positions(kept=kept[1:], forgotten=max(self.forgotten, kept[0]))
