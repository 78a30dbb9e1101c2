"""``python -m remit.executor``."""

import sys

from remit.executor.app import run

if __name__ == "__main__":
    sys.exit(run())
