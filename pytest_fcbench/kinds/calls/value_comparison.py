"""Compare values with accepted ones by value, whatever type a function doc declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcbench.judging.text_normalization import standardize, unify_texts


def list_options(accepted_values: object) -> Sequence[object]:
    """Return the accepted values of a parameter; a bare value is the only one."""
    return accepted_values if isinstance(accepted_values, (list, tuple)) else [accepted_values]


def name_kind(value: object) -> str:
    """Name the kind of a value as JSON knows it; 1 and 1.0 are of one kind."""
    # First, because a boolean is an int.
    if isinstance(value, bool):
        return "boolean"
    kinds: tuple[tuple[type | tuple[type, ...], str], ...] = (
        ((int, float), "number"),
        (str, "string"),
        ((list, tuple), "list"),
        (Mapping, "dict"),
    )
    return next((name for kind, name in kinds if isinstance(value, kind)), "others")


def means_same(option: object, value: object) -> bool:
    """Tell whether a value is the accepted one, in whatever form of Unicode its texts are."""
    return values_agree(unify_texts(option), unify_texts(value))


def values_agree(option: object, value: object) -> bool:
    """Tell whether a value is the accepted one, compared at every depth.

    Inside a dict, an accepted list may mean that list or a list of alternatives.
    """
    kind = name_kind(option)
    # Kinds first, because 1 == True in Python.
    if kind != name_kind(value):
        return False
    if isinstance(option, str) and isinstance(value, str):
        return standardize(option) == standardize(value)
    if isinstance(option, (list, tuple)) and isinstance(value, (list, tuple)):
        return len(option) == len(value) and all(map(values_agree, option, value))
    if isinstance(option, Mapping) and isinstance(value, Mapping):
        return value.keys() <= option.keys() and all(
            _agree_in_dict(option[key], value[key]) if key in value else "" in list_options(option[key])
            for key in option
        )
    return option == value


def _agree_in_dict(accepted_values: object, value: object) -> bool:
    """Tell whether the value of a key is accepted; ``""`` only means that the key may be left out."""
    options = list_options(accepted_values)
    literal_empty = all(option == "" for option in options)
    return values_agree(accepted_values, value) or any(
        values_agree(option, value)
        for option in options
        if option is not accepted_values and (option != "" or literal_empty)
    )
