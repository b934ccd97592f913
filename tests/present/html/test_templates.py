"""Pages from templates: a policy that fits their blocks."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from pytest_fcbench.present.html.templates import hash_block, make_environment, write_policy


def test_a_change_that_is_rounded_to_nothing_has_no_minus() -> None:
    write_points = make_environment(Path()).filters["points"]
    assert [write_points(change) for change in (-0.0004, 0.0, 0.0004, -0.0006)] == [
        "+0.0",
        "+0.0",
        "+0.0",
        "−0.1",
    ]


def test_a_policy_names_what_it_allows() -> None:
    sha256 = base64.b64encode(hashlib.sha256("a{}é".encode()).digest()).decode()
    assert (
        write_policy("a{}é")
        == f"default-src 'none'; style-src 'sha256-{sha256}'; base-uri 'none'; form-action 'none'"
    )
    assert f"; script-src {hash_block('x')}; img-src data:; " in write_policy(
        "", f"script-src {hash_block('x')}", "img-src data:"
    )
