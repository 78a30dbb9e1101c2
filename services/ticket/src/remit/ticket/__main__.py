"""``python -m remit.ticket``."""

import sys

from remit.ticket.app import run

if __name__ == "__main__":
    sys.exit(run())
