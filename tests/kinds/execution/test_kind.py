"""Lines of official score files on calls that are carried out."""

from __future__ import annotations

from dataclasses import replace

from pytest_fcbench.domain.transcript import Completion, Fault
from pytest_fcbench.kinds.execution.verdict import ExpectedResults, ResultRule
from tests.cases import each_case
from tests.factories import make_doc, make_entry
from tests.kinds.official_rows import write_and_read_row

TWO = ["math_gcd(a=12, b=18)", "math_gcd(a=1, b=1)"]


@each_case(
    ("answer", "code", "decoded"),
    [
        ("[math_gcd(a=12, b=17)]", "executable_checker:wrong_result", ["math_gcd(a=12, b=17)"]),
        ("[math_gcd(a=12, b=18), math_gcd(a=1, b=1)]", "simple_exec_checker:wrong_count", TWO),
        ("[]", "executable_decoder:wrong_output_format", []),
        ("It is six.", "executable_decoder:decoder_failed", None),
        (Completion("too long", fault=Fault.OVERFLOW), "executable_decoder:decoder_failed", None),
    ],
)
def test_calls_that_are_carried_out(answer: Completion | str, code: str, decoded: object) -> None:
    call = "math_gcd(a=12, b=18)"
    expected = ExpectedResults((call,), (ResultRule.EXACT,))
    entry = replace(make_entry("exec_simple", functions=[make_doc("math_gcd")]), expectation=expected)
    assert write_and_read_row(entry, f"[{call}]", [call]) is None
    row = write_and_read_row(entry, answer, [call])
    assert row is not None
    assert (row["error_type"], row["model_result_raw"], row["possible_answer"]) == (code, "raw", [call])
    assert row.get("model_result_decoded") == decoded
