"""The layers that give options their values: command line, model profile, the file's top level."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path

from pytest_fcbench.config.options import OPTIONS, Option
from pytest_fcbench.domain.errors import SuiteError, UsageError, describe_unknown_name
from pytest_fcbench.domain.redaction import redact_secrets
from pytest_fcbench.domain.text import escape_controls
from pytest_fcbench.formats.fields import Field, read_yaml
from pytest_fcbench.suites.registry import can_name_a_suite

BY_KEY = {option.key: option for option in OPTIONS}
_FILE_KEYS = (*(option.key for option in OPTIONS if option.in_file), "models", "prices", "suites")
_PROFILE_KEYS = (*(option.key for option in OPTIONS if option.of_model and option.key != "model"), "released")


@contextmanager
def raise_usage_errors() -> Iterator[None]:
    """Raise errors of the configuration file as ``UsageError``: a wrong value there is a wrong option."""
    try:
        yield
    except SuiteError as error:
        raise UsageError(str(error)) from None


class EnvironmentText(str):
    """The value of an option that an environment variable gives, so that errors name the variable."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Given:
    """A value of an option, and the place where it was given."""

    option: Option
    text: str
    field: Field | None

    def error(self, rule: str) -> UsageError:
        """Return the error that the value breaks a rule, with the place where it was given."""
        if self.field is not None:
            return UsageError(str(self.field.error(rule)))
        of_environment = isinstance(self.text, EnvironmentText)
        name = self.option.variable if of_environment else self.option.flag
        return UsageError(f"{name}={escape_controls(redact_secrets(self.text))}: {rule}")


@dataclass(frozen=True, slots=True)
class Layers:
    """The layers of values, strongest first."""

    command_line: Mapping[str, object]
    profile: Mapping[str, Field]
    top: Mapping[str, Field]
    pointed: Mapping[str, Path] = field(default_factory=dict)
    """Suites that replace those that are named."""
    root: Path = Path()
    """The folder of default paths."""

    @property
    def own_suites(self) -> Mapping[str, Path]:
        """A team's own suites by name."""
        return {**read_own_suites(self.top), **self.pointed}

    def find_all(self, key: str) -> list[Given]:
        """Return all values of an option from the strongest layer that has any."""
        option = BY_KEY[key]
        raw_value = self.command_line.get(key)
        if raw_value is not None:
            values = raw_value if isinstance(raw_value, (list, tuple)) else [raw_value]
            kind = EnvironmentText if isinstance(raw_value, EnvironmentText) else str
            texts = [text for value in values for text in _split_names(option, str(value))]
            return [Given(option, kind(text), None) for text in texts]
        # Only the command line and the top level name a profile; its own "model" is the model's id.
        member = (None if key == "model" else self.profile.get(key)) or self.top.get(key)
        if member is None:
            return []
        items = list(member.elements()) if option.repeatable and isinstance(member.value, list) else [member]
        if "on" in option.choices:
            # Without quotes these words are truth values in YAML.
            items = [
                replace(item, value="on" if item.value else "off") if isinstance(item.value, bool) else item
                for item in items
            ]
        for item in items:
            if isinstance(item.value, bool) or not isinstance(item.value, (str, int, float)):
                raise UsageError(str(item.error("must be text or a number")))
        return [Given(option, text, item) for item in items for text in _split_names(option, str(item.value))]

    def find_first(self, key: str) -> Given | None:
        """Return the first value of an option."""
        return next(iter(self.find_all(key)), None)

    def find_text(self, key: str) -> str | None:
        """Return the first value of an option as it was written."""
        option_value = self.find_first(key)
        return option_value.text if option_value else None

    def find_choices(self, key: str, valid: Sequence[str]) -> list[str]:
        """Return all values of an option, each of which must be valid. Raises ``UsageError``."""
        option_values = self.find_all(key)
        for option_value in option_values:
            if option_value.text not in valid:
                raise option_value.error(describe_unknown_name(key, option_value.text, valid))
        return [option_value.text for option_value in option_values]

    def is_on(self, key: str) -> bool:
        """Tell whether a switch is on. Raises ``UsageError``."""
        if self.command_line.get(key) is not None:
            return bool(self.command_line[key])
        file_field = self.top.get(key)
        if file_field is None:
            return False
        if not isinstance(file_field.value, bool):
            raise UsageError(str(file_field.error("must be true or false")))
        return file_field.value


def _split_names(option: Option, text: str) -> list[str]:
    return [name.strip() for name in text.split(",")] if option.of_names else [text]


def read_file_layers(file: Path | None) -> tuple[Mapping[str, Field], Mapping[str, Mapping[str, Field]]]:
    """Return the top level of the file and its model profiles by name; both are empty without a file."""
    if file is None:
        return {}, {}
    with raise_usage_errors():
        content = read_yaml(file)
        top = Field({} if content is None else content, file).members((), _FILE_KEYS)
        fields = top["models"].members() if "models" in top else {}
        profiles = {name: profile.members(("model",), _PROFILE_KEYS) for name, profile in fields.items()}
        # Read for its errors only: a wrong date is a wrong file, also in a run that needs no dates.
        for profile in profiles.values():
            read_release_date(profile)
    return top, profiles


def read_own_suites(top: Mapping[str, Field]) -> Mapping[str, Path]:
    """Return the folders of a team's own suites by name. Raises ``UsageError``."""
    if "suites" not in top:
        return {}
    with raise_usage_errors():
        if not isinstance(top["suites"].value, Mapping):
            raise top["suites"].error(
                "must map names to paths; list the names of suites to run under 'suite'"
            )
        members = top["suites"].members()
        for name, path in members.items():
            # The name of a suite is also a mark of pytest, next to those of categories.
            if not can_name_a_suite(name):
                raise path.error(
                    f"{name!r} cannot name a suite; use one word that names no category, mark or other suite"
                )
        # Paths are relative to the configuration file, wherever the command is run.
        return {name: path.path.parent / path.text() for name, path in members.items()}


def find_profile(
    key: str,
    command_line: Mapping[str, object],
    top: Mapping[str, Field],
    profiles: Mapping[str, Mapping[str, Field]],
) -> Mapping[str, Field]:
    """Return the model profile that an option names, an empty one where it names none."""
    with raise_usage_errors():
        # A name without a profile is the id of a model, so nothing is raised for it here.
        name = command_line.get(key) or (top[key].text() if key in top else None)
        profile = profiles.get(str(name), {})
        # Read for its error only, which names the line in the file.
        if profile:
            profile["model"].text()
    return profile


def read_release_date(profile: Mapping[str, Field]) -> date | None:
    """Return the release date of a profile's model. Raises ``SuiteError`` for a value that is not a date."""
    if (field := profile.get("released")) is None:
        return None
    # YAML makes a date of what looks like one, and a datetime of what also has a time.
    if isinstance(field.value, date) and not isinstance(field.value, datetime):
        return field.value
    try:
        if isinstance(field.value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", field.value, re.ASCII):
            return date.fromisoformat(field.value)
    except ValueError:
        pass
    raise field.error("must be a date such as 2024-07-18")
