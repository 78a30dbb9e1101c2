"""``python -m remit.source``."""

import sys

from remit.source.app import run

if __name__ == "__main__":
    sys.exit(run())
