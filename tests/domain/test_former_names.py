"""Names that a former version had are found, with a warning."""

from __future__ import annotations

from importlib import import_module

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.verdict import Failed, Judgement, Passed, Profile


@pytest.mark.parametrize(
    ("module", "former", "present"),
    [
        ("domain.conformance", "conforms", "conforms_to_schema"),
        ("domain.entry", "alternatives", "list_alternatives"),
        ("domain.errors", "unknown", "describe_unknown_name"),
        ("domain.transcript", "Driven", "PathSettings"),
        ("domain.verdict", "Rated", "JudgeRating"),
        ("environments.custom", "adapted", "adapt_class"),
        ("environments.environment", "functions_of", "list_functions"),
        ("models.registry", "choose", "choose_model"),
        ("scorecard.gate.gate", "check", "check_rules"),
        ("scorecard.gate.rules", "parse", "parse_rule"),
        ("scorecard.record", "record", "build_record"),
        ("scorecard.scorecard_files", "load", "load_scorecard"),
        ("suites.custom", "files_of", "find_entry_files"),
    ],
)
def test_a_renamed_thing_has_its_former_name_still(module: str, former: str, present: str) -> None:
    home = import_module(f"pytest_fcbench.{module}")
    with pytest.warns(DeprecationWarning, match=rf"^pytest_fcbench\.{module}\.{former} is now {present}$"):
        found = getattr(home, former)
    assert found is getattr(home, present)


def test_a_name_that_never_was_is_an_attribute_error() -> None:
    home = import_module("pytest_fcbench.domain.errors")
    with pytest.raises(
        AttributeError, match=r"^module 'pytest_fcbench\.domain\.errors' has no attribute 'nothing'$"
    ):
        home.nothing  # noqa: B018 - the look-up is the test


def test_renamed_methods_have_their_former_names_still() -> None:
    failed = Failed("code", "reason")
    with pytest.warns(DeprecationWarning, match=r"^Verdicts\.both is now same_in_both$"):
        judgement = Judgement.both(failed)
    assert judgement == Judgement(failed, failed)
    differing = Judgement(failed, Passed())
    with pytest.warns(DeprecationWarning, match=r"^Verdicts\.under is now select_profile$"):
        assert differing.under(Profile.OFFICIAL) == failed
    with pytest.warns(DeprecationWarning, match=r"^Judgement\.path_under is now select_path_score$"):
        assert differing.path_under(Profile.CORRECTED) is None
    entry = Entry("s", "e", CATEGORIES["chatable"], (), (), ())  # type: ignore[arg-type]  # expects nothing
    with pytest.warns(DeprecationWarning, match=r"^Entry\.function is now find_function$"):
        assert entry.function("f") is None
