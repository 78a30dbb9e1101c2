"""Coordination over Redis or Valkey.

Keys: ``remit:position:<instance>`` is a hash of modes; ``remit:lease:<name>`` holds its token.

A lease is ``SET NX PX`` with a fencing token, renewed and released by comparing the token in Lua.
Tokens are the server's clock in microseconds, raised past the last one that was handed out: they
rise also after everything was flushed, as long as that clock does not go back.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TypeVar, cast

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from remit.coordination.clock import Clock, SystemClock
from remit.coordination.errors import CoordinationUnavailable, LeaseHeld
from remit.coordination.holding import HeldLease, keeping
from remit.coordination.ports import Lease

T = TypeVar("T")

_ACQUIRE = """
if redis.call('exists', KEYS[1]) == 1 then return 0 end
local time = redis.call('time')
local token = time[1] * 1000000 + time[2]
local last = tonumber(redis.call('get', KEYS[2]) or '0')
if token <= last then token = last + 1 end
local text = string.format('%.0f', token)
redis.call('set', KEYS[2], text)
redis.call('set', KEYS[1], text, 'PX', ARGV[1])
return text
"""
_RENEW = """
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('pexpire', KEYS[1], ARGV[2])
"""
_RELEASE = """
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('del', KEYS[1])
"""
_ANSWER_WITHIN = 2.0
"""Seconds that Redis has for an answer."""


class RedisConnection:
    """One pool of connections that the ports share."""

    def __init__(self, url: str) -> None:
        self.client: Redis = Redis.from_url(
            url,
            decode_responses=True,
            socket_timeout=_ANSWER_WITHIN,
            socket_connect_timeout=_ANSWER_WITHIN,
            retry=Retry(ExponentialWithJitterBackoff(base=0.05, cap=0.5), retries=2),
            retry_on_error=[RedisConnectionError],
        )
        self.answers = False

    async def ask(self, action: str, answer: Awaitable[T]) -> T:
        """Return an answer of the server.

        Raises:
            CoordinationUnavailable: It gave none, or is not ready to.
        """
        try:
            result = await answer
        except (RedisConnectionError, RedisTimeoutError, OSError) as error:
            self.answers = False
            raise CoordinationUnavailable(action) from error
        except ResponseError as error:
            if str(error).startswith(("LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN")):
                self.answers = False
                raise CoordinationUnavailable(action) from error
            raise
        self.answers = True
        return result

    async def check(self) -> None:
        """Ask whether the server answers.

        Raises:
            CoordinationUnavailable: It does not.
        """
        await self.ask("say hello", self.client.ping())

    async def close(self) -> None:
        """Close every connection."""
        await self.client.aclose()


class RedisReadPositions:
    """`remit.coordination.ports.ReadPositions` over Redis."""

    def __init__(self, connection: RedisConnection) -> None:
        self._redis = connection

    async def get(self, instance: str, mode: str) -> str | None:
        """Return the position."""
        answer = cast("Awaitable[str | None]", self._redis.client.hget(_positions(instance), mode))
        return await self._redis.ask("read a position", answer)

    async def put(self, instance: str, mode: str, position: str) -> None:
        """Put the position in place of the earlier one."""
        key = _positions(instance)
        answer = self._redis.client.hset(key, mode, position)
        await self._redis.ask("put a position", answer)

    async def all(self, instance: str) -> Mapping[str, str]:
        """Return every position of an instance by mode."""
        key = _positions(instance)
        answer = cast("Awaitable[dict[str, str]]", self._redis.client.hgetall(key))
        return await self._redis.ask("read positions", answer)


class RedisLeases:
    """`remit.coordination.ports.Leases` over Redis."""

    def __init__(self, connection: RedisConnection, *, clock: Clock | None = None) -> None:
        self._redis = connection
        self._clock = clock or SystemClock()
        client = connection.client
        self._acquire = client.register_script(_ACQUIRE)
        self._renew = client.register_script(_RENEW)
        self._release = client.register_script(_RELEASE)

    def ready(self) -> bool:
        """Say whether Redis answered when it was last asked."""
        return self._redis.answers

    @asynccontextmanager
    async def hold(self, name: str, *, ttl: timedelta) -> AsyncIterator[Lease]:
        """Hold a lease for the length of a block."""
        key = f"remit:lease:{name}"
        length = int(ttl.total_seconds() * 1000)
        keys = [key, "remit:lease-token"]
        answer = await self._redis.ask("acquire a lease", self._acquire(keys=keys, args=[length]))
        token = int(answer)
        if not token:
            raise LeaseHeld(name)

        async def renew() -> bool:
            renewed = self._renew(keys=[key], args=[token, length])
            return bool(await self._redis.ask("renew a lease", renewed))

        async def release() -> None:
            await self._redis.ask("let a lease go", self._release(keys=[key], args=[token]))

        lease = HeldLease(name, token)
        async with keeping(lease, ttl=ttl, renew=renew, release=release, clock=self._clock):
            yield lease


def _positions(instance: str) -> str:
    return f"remit:position:{instance}"
