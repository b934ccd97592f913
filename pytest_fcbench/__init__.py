"""Function-calling benchmarks as an ordinary pytest suite.

Nothing is imported here on purpose: pytest loads this package in every run where it is installed. It has no
assertions that pytest could rewrite (PYTEST_DONT_REWRITE), so that programs may import it before pytest.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike

    from pytest_fcbench.scorecard.rows import RunResults


def load(path: str | PathLike[str]) -> RunResults:
    """Load the results of a run from its ``scorecard.json``, or from a baseline.

    Raises ``UsageError`` with the file and the fault.
    """
    from pytest_fcbench.scorecard.rows import load_results

    return load_results(path)
