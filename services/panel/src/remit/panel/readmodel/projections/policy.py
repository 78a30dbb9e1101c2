"""The POLICY stream: versions of the Policy."""

from __future__ import annotations

from remit.bus.message import Delivery
from remit.domain.messages import PolicyInForce
from remit.panel.live import Change, ChangeKind
from remit.panel.readmodel.rows import PolicyRow, Projected
from remit.panel.readmodel.times import micros
from remit.runtime.wire import read


def project_policy(delivery: Delivery) -> Projected:
    """Return what a version of the Policy means for the read model."""
    applied = read(delivery, PolicyInForce)
    version = applied.policy.version
    return Projected(
        rows=(
            PolicyRow(
                position=delivery.sequence,
                version=version,
                at=micros(applied.applied_at),
                document=delivery.message.data.decode(),
            ),
        ),
        change=Change(
            kind=ChangeKind.POLICY,
            id=version,
            at=delivery.stored_at,
            facts={"accept": applied.policy.accept, "by": applied.applied_by},
        ),
    )
