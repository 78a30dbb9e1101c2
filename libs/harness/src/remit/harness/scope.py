"""Scopes: whom a contribution is for (AGS-1, AGS-2).

A contribution without a scope is global. One with a scope is for that scope alone, and for scopes
that name it as their parent.
"""

from __future__ import annotations

from collections.abc import Iterator


class Scope:
    """The opaque key of one scope: two scopes are the same only if they are the same object.

    Attributes:
        label: What the scope is for, for people who debug; it says nothing to the program.
        parent: The standing scope it joins.
    """

    __slots__ = ("label", "parent")

    def __init__(self, label: str, parent: Scope | None = None) -> None:
        """Make a scope.

        Args:
            label: What it is for.
            parent: The standing scope it joins, whose contributions it sees too.
        """
        self.label = label
        self.parent = parent

    def chain(self) -> Iterator[Scope]:
        """This scope, its parent, and so on: the nearest first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def __repr__(self) -> str:
        return f"Scope({self.label!r})"
