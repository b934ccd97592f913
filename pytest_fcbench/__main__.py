"""Start the command line of the benchmark with ``python -m pytest_fcbench``."""

import sys

from pytest_fcbench.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
