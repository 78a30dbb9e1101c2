"""GitHub: issues, pull requests and reviews."""

from remit.connectors.github.connector import GitHubConnector, GitHubInstance
from remit.connectors.github.settings import GitHubSettings

__all__ = ["GitHubConnector", "GitHubInstance", "GitHubSettings"]
