"""``python -m remit.channel``."""

import sys

from remit.channel.app import run

if __name__ == "__main__":
    sys.exit(run())
