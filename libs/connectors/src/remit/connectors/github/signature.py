"""GitHub's signature of a webhook: HMAC-SHA256 over the raw body.

See https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries.
"""

from __future__ import annotations

import hashlib
import hmac

HEADER = "x-hub-signature-256"
_PREFIX = "sha256="


def sign(secret: str, body: bytes) -> str:
    """Return the header's value for ``body``."""
    return _PREFIX + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def is_signed(secret: str, body: bytes, signature: str) -> bool:
    """Say whether ``signature`` is that of ``body``, in a time that tells nothing."""
    return hmac.compare_digest(sign(secret, body).encode(), signature.encode())
