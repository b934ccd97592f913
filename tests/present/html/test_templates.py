"""Pages from templates: a policy that fits their blocks."""

from __future__ import annotations

import base64
import hashlib

from pytest_fcbench.present.html.templates import hash_block, write_policy


def test_a_policy_names_what_it_allows() -> None:
    sha256 = base64.b64encode(hashlib.sha256("a{}é".encode()).digest()).decode()
    assert (
        write_policy("a{}é")
        == f"default-src 'none'; style-src 'sha256-{sha256}'; base-uri 'none'; form-action 'none'"
    )
    assert f"; script-src {hash_block('x')}; img-src data:; " in write_policy(
        "", f"script-src {hash_block('x')}", "img-src data:"
    )
