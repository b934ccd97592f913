"""Where the values of options come from: command line, model profile, the file's top level."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

from pytest_fcbench.config.options import OPTIONS, Option
from pytest_fcbench.domain.errors import SuiteError, UsageError, unknown
from pytest_fcbench.suites.formats.fields import Field, yaml_value
from pytest_fcbench.suites.registry import can_name_a_suite

BY_KEY = {option.key: option for option in OPTIONS}
_FILE_KEYS = (
    *(option.key for option in OPTIONS if option.in_file),
    "models",
    "prices",
    "suites",
)
_PROFILE_KEYS = (
    *(option.key for option in OPTIONS if option.of_model and option.key != "model"),
    "released",
)


@dataclass(frozen=True, slots=True)
class Given:
    """One value of an option, and where it was given."""

    option: Option
    text: str
    field: Field | None

    def error(self, rule: str) -> UsageError:
        """That it breaks a rule, with the place where it was given."""
        if self.field is not None:
            return UsageError(str(self.field.error(rule)))
        return UsageError(f"{self.option.flag}={self.text}: {rule}")


@dataclass(frozen=True, slots=True)
class Layers:
    """Where values come from, strongest first."""

    command_line: Mapping[str, object]
    profile: Mapping[str, Field]
    top: Mapping[str, Field]
    pointed: Mapping[str, Path] = field(default_factory=dict)
    """Suites that take the place of those that are named."""
    root: Path = Path()
    """The folder in which default paths lie."""

    @property
    def own(self) -> Mapping[str, Path]:
        """Suites of a team's own."""
        return {**own_of(self.top), **self.pointed}

    def all(self, key: str) -> list[Given]:
        """All values of an option from the strongest layer that has any."""
        option = BY_KEY[key]
        given = self.command_line.get(key)
        if given is not None:
            values = given if isinstance(given, (list, tuple)) else [given]
            return [Given(option, str(value), None) for value in values]
        found = (None if key == "model" else self.profile.get(key)) or self.top.get(key)
        if found is None:
            return []
        listed = option.repeatable and isinstance(found.value, list)
        return [Given(option, _scalar(item), item) for item in (found.elements() if listed else [found])]

    def each(self) -> Iterator[Layers]:
        """Each layer on its own, weakest first."""
        yield Layers({}, {}, self.top)
        yield Layers({}, self.profile, {})
        yield Layers(self.command_line, {}, {})

    def one(self, key: str) -> Given | None:
        """The first value of an option."""
        return next(iter(self.all(key)), None)

    def one_or_default(self, option: Option) -> Given | None:
        """Return the first value of an option, else its default; None where it has neither."""
        default = None if option.default is None else Given(option, option.default, None)
        return self.one(option.key) or default

    def text(self, key: str) -> str | None:
        """The first value as it was written."""
        given = self.one(key)
        return given.text if given else None

    def choices(self, key: str, valid: Sequence[str]) -> list[str]:
        """All values, each of which must be one of these. Raises ``UsageError``."""
        for given in self.all(key):
            if given.text not in valid:
                raise given.error(unknown(key, given.text, valid))
        return [given.text for given in self.all(key)]

    def choice(self, key: str, valid: Sequence[str]) -> str | None:
        """The first value, which must be one of these. Raises ``UsageError``."""
        return next(iter(self.choices(key, valid)), None)

    def on(self, key: str) -> bool:
        """Whether a switch is on. Raises ``UsageError``."""
        if self.command_line.get(key) is not None:
            return bool(self.command_line[key])
        found = self.top.get(key)
        if found is None:
            return False
        if not isinstance(found.value, bool):
            raise UsageError(str(found.error("must be true or false")))
        return found.value


def file_layers(file: Path | None) -> tuple[Mapping[str, Field], Mapping[str, Mapping[str, Field]]]:
    """The top level of the file, and its model profiles by name; empty without one."""
    if file is None:
        return {}, {}
    try:
        content = yaml_value(file)
        top = Field({} if content is None else content, file).members((), _FILE_KEYS)
        profiles = top["models"].members() if "models" in top else {}
        members = {name: profile.members(("model",), _PROFILE_KEYS) for name, profile in profiles.items()}
        for profile in members.values():
            released_of(profile)
    except SuiteError as error:
        raise UsageError(str(error)) from None
    return top, members


def own_of(top: Mapping[str, Field]) -> Mapping[str, Path]:
    if "suites" not in top:
        return {}
    try:
        if not isinstance(top["suites"].value, Mapping):
            raise top["suites"].error(
                "must give paths by name; the names of those to run stand under 'suite'"
            )
        members = top["suites"].members()
        for name, path in members.items():
            if not can_name_a_suite(name):
                raise path.error(f"{name!r} cannot be the name of a suite: a word, and none that is taken")
        return {name: path.path.parent / path.text() for name, path in members.items()}
    except SuiteError as error:
        raise UsageError(str(error)) from None


def profile_of(
    key: str,
    command_line: Mapping[str, object],
    top: Mapping[str, Field],
    profiles: Mapping[str, Mapping[str, Field]],
) -> Mapping[str, Field]:
    """The model profile that an option names; empty where it is none."""
    try:
        name = command_line.get(key) or (top[key].text() if key in top else None)
        profile = profiles.get(str(name), {})
        if profile:
            profile["model"].text()
    except SuiteError as error:
        raise UsageError(str(error)) from None
    return profile


def released_of(profile: Mapping[str, Field]) -> date | None:
    """When the model of a profile came out. Raises ``SuiteError`` of what is not a date."""
    if (field := profile.get("released")) is None:
        return None
    # YAML makes a date of what looks like one, and a time of what goes on.
    if isinstance(field.value, date) and not isinstance(field.value, datetime):
        return field.value
    try:
        if isinstance(field.value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", field.value, re.ASCII):
            return date.fromisoformat(field.value)
    except ValueError:
        pass
    raise field.error("must be a date such as 2024-07-18")


def _scalar(given: Field) -> str:
    if isinstance(given.value, str) or (
        isinstance(given.value, (int, float)) and not isinstance(given.value, bool)
    ):
        return str(given.value)
    raise UsageError(str(given.error("must be text or a number")))
