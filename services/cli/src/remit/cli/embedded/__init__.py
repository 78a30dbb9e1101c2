"""NATS and Valkey inside `remit up` and the tests: real servers, on loopback, that end with us."""

from remit.cli.embedded.folder import DataFolderBusy
from remit.cli.embedded.nats_server import NatsServer
from remit.cli.embedded.process import ServerFailed
from remit.cli.embedded.valkey_server import ValkeyServer

__all__ = ["DataFolderBusy", "NatsServer", "ServerFailed", "ValkeyServer"]
