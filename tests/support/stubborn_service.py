"""``python -m support.stubborn_service``: a service with one part that never stops by itself."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack

from remit.runtime.service import Assembly, main
from remit.runtime.settings import ServiceSettings


class Stubborn:
    """Runs on whatever it is told."""

    name = "stubborn"

    async def run(self) -> None:
        await asyncio.Event().wait()

    async def stop(self) -> None:
        await asyncio.Event().wait()

    def progressing(self) -> bool:
        return False


async def build(stack: AsyncExitStack) -> Assembly:
    return Assembly(parts=[Stubborn()])


if __name__ == "__main__":
    sys.exit(main("runtime", ServiceSettings(), build))
