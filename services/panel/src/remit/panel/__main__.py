"""``python -m remit.panel``."""

import sys

from remit.panel.app import run

if __name__ == "__main__":
    sys.exit(run())
