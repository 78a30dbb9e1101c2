"""The `remit-agent` command."""

from __future__ import annotations

import asyncio
import logging
import os
import sys

from remit.harness.errors import HarnessError
from remit.harness.secret import take_key
from remit.harness.settings import Settings, SettingsError, load_settings


def main() -> int:
    """Run the command.

    Returns:
        0 after a client was served, 2 where the settings do not make sense.
    """
    try:
        settings = load_settings(sys.argv[1:], os.environ, take_key(os.environ))
        return _run(settings)
    except SettingsError as error:
        return _complain(error)


def _run(settings: Settings) -> int:
    logging.basicConfig(
        stream=sys.stderr,
        level=settings.log_level.upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    for chatty in ("httpx", "httpcore", "httpx2", "httpcore2", "mcp"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    # Imported late: a wrong setting or a look at the version should not wait for the protocol.
    from remit.harness.app import serve

    try:
        asyncio.run(serve(settings))
    except HarnessError as error:
        return _complain(error)
    return 0


def _complain(error: HarnessError) -> int:
    sys.stderr.write(f"remit-agent: {error}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
