"""Projections: pure functions from one message of a stream to what it means for the read model."""

from remit.panel.readmodel.projections.all import projections
from remit.panel.readmodel.projections.projection import Projection

__all__ = ["Projection", "projections"]
