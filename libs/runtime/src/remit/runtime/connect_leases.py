"""Connecting a service to Redis or Valkey, from its settings.

Apart from the bus, so that a service which needs no leases does not carry the client.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from remit.coordination import CoordinationUnavailable, Leases, RedisConnection, RedisLeases
from remit.runtime.settings import ServiceSettings
from remit.telemetry.logs import logger

_ASK_EVERY = 2.0
"""Seconds between looks whether Redis is there, while nothing else asks it anything."""


async def connect_leases(settings: ServiceSettings, stack: AsyncExitStack) -> Leases:
    """Return leases over a connection to Redis or Valkey; closed with ``stack``.

    Raises:
        CoordinationUnavailable: Redis did not answer.
    """
    connection = RedisConnection(settings.redis_url.get_secret_value())
    stack.push_async_callback(connection.close)
    await connection.check()
    watching = asyncio.create_task(_watch(connection), name="watch redis")

    async def stop_watching() -> None:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)

    stack.push_async_callback(stop_watching)
    return RedisLeases(connection)


async def _watch(connection: RedisConnection) -> None:
    """Keep knowing whether Redis answers, and say once that it is away and once that it is back."""
    log = logger("remit.runtime.redis")
    away = False
    while True:
        await asyncio.sleep(_ASK_EVERY)
        try:
            await connection.check()
        except CoordinationUnavailable as error:
            if not away:
                log.warning("redis is away", reason=str(error))
            away = True
        else:
            if away:
                log.info("redis is back")
            away = False
