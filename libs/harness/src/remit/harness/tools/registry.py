"""Which tools there are, and for whom (AGS-1, AGS-3, AGS-5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from remit.harness.errors import HarnessError
from remit.harness.models.port import ToolSchema
from remit.harness.scope import Scope
from remit.harness.tools.errors import UnknownToolError
from remit.harness.tools.tool import Tool


class DuplicateToolError(HarnessError):
    """Two tools of one name in one layer.

    Attributes:
        tool: The name.
    """

    def __init__(self, tool: str, scope: Scope | None) -> None:
        where = "globally" if scope is None else "in this scope"
        super().__init__(f"a tool named {tool} is already registered {where}")
        self.tool = tool


class ToolView:
    """The tools one agent has: what it is shown, what it finds and what it can run are the same.

    A view stands still; registering more tools makes another.
    """

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = dict(sorted(tools.items()))

    def schemas(self) -> tuple[ToolSchema, ...]:
        """What the model is told, ordered by name."""
        return tuple(tool.schema for tool in self._tools.values())

    def get(self, name: str) -> Tool:
        """The tool of a name.

        Raises:
            UnknownToolError: This agent has none.
        """
        tool = self._tools.get(name)
        if tool is None:
            raise UnknownToolError(name)
        return tool


class ToolRegistry:
    """Tools by layer: the global one, and one for each scope that registered something."""

    def __init__(self) -> None:
        self._layers: dict[Scope | None, dict[str, Tool]] = {}

    def register(self, tool: Tool, scope: Scope | None = None) -> Callable[[], None]:
        """Add a tool, for everybody or for one scope; what this returns takes it away again.

        Raises:
            DuplicateToolError: The layer has a tool of that name.
        """
        layer = self._layers.setdefault(scope, {})
        if tool.name in layer:
            raise DuplicateToolError(tool.name, scope)
        layer[tool.name] = tool

        def dispose() -> None:
            layer = self._layers.get(scope, {})
            if layer.get(tool.name) is tool:
                del layer[tool.name]

        return dispose

    def dispose(self, scope: Scope) -> None:
        """Take away everything of a scope: its life is over."""
        self._layers.pop(scope, None)

    def view(self, scope: Scope) -> ToolView:
        """The tools of one scope: its own hide its parents', and those hide the global ones."""
        tools: dict[str, Tool] = dict(self._layers.get(None, {}))
        for layer in reversed(list(scope.chain())):
            tools |= self._layers.get(layer, {})
        return ToolView(tools)
