"""``python -m remit.eval``."""

import sys

from remit.eval.app import run

if __name__ == "__main__":
    sys.exit(run())
