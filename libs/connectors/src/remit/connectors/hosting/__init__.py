"""What a service that hosts connectors needs, and a connector itself does not."""

from remit.connectors.hosting.instances import configured_instances
from remit.connectors.hosting.transcript import BusTranscript

__all__ = ["BusTranscript", "configured_instances"]
