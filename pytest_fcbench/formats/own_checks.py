"""Checks of a team's own, which a suite names: ``checks:is_polite`` is a function of a module beside it."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.formats.fields import Field

_PARAMETERS = ("entry", "answer")


def read_check(field: Field) -> Callable[..., object] | None:
    """Import the check that a field names; None where it names none. Raises ``SuiteError``."""
    if field.value is None:
        return None
    # Imported here, because few suites have checks.
    from pytest_fcbench.codecs.function_docs import python_code

    name = field.text().replace(".py:", ":").removeprefix("./").replace("/", ".")
    if ":" not in name:
        raise field.error(f"{name!r} names no function; write module:function, e.g. checks:is_polite")
    try:
        check = python_code.find_object(name, field.path.parent.absolute())
    except UsageError as error:
        raise field.error(str(error)) from None
    if not callable(check) or isinstance(check, type):
        raise field.error(f"{name} is not a function; name one that takes 'answer'")
    if inspect.iscoroutinefunction(check):
        raise field.error(f"{name} is asynchronous; write it as a plain function, with asyncio.run inside")
    try:
        signature = inspect.signature(check)
        parameters = [each for each in _PARAMETERS if each in signature.parameters]
        signature.bind(**dict.fromkeys(parameters))
    except (TypeError, ValueError):
        parameters = []
    if not parameters:
        raise field.error(
            f"{name} cannot be called as {name}(answer=...); name its parameters 'answer' and, if needed, "
            "'entry', and give any other a default"
        )
    return check
