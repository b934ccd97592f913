"""What is wrong before anything is collected is a usage error."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Project


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (
            "--fcbench-config=nope.yaml",
            "ERROR: --fcbench-config=nope.yaml: no such file; name a configuration file, or "
            "leave the option out",
        ),
        ("--fcbench-concurrency=0", "ERROR: *concurrency*"),
    ],
)
def test_a_wrong_option_is_a_usage_error(project: Project, option: str, told: str) -> None:
    result = project.run_apart(option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([told])
    result.stderr.no_fnmatch_line("*Traceback*")
