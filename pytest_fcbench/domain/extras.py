"""Optional packages by the extra that installs them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from pytest_fcbench.domain.errors import UsageError

EXTRAS: Mapping[str, tuple[str, ...]] = {
    "data": ("pandas", "pyarrow"),
    "inspect": ("inspect_ai",),
    "markdown": ("html2text",),
    "mcp": ("httpx2", "mcp"),
    "mlflow": ("mlflow",),
    "report": ("matplotlib",),
    "search": ("ddgs",),
    "vector": ("safetensors", "tokenizers"),
    "wandb": ("wandb",),
}
APART = frozenset({"inspect", "mlflow", "wandb"})
"""Extras that ``all`` leaves out: programs for other purposes, with many packages of their own."""


def list_missing_packages(extra: str) -> list[str]:
    """List the packages of an extra that are not installed."""
    # Looked for and not imported: an import would run the package and take its time.
    return [package for package in EXTRAS[extra] if find_spec(package) is None]


def require_extra(extra: str, by: str) -> None:
    """Raise ``UsageError`` where a package of an extra is not installed; ``by`` is what needs it.

    Call it before anything is asked or written.
    """
    if missing_packages := list_missing_packages(extra):
        packages = f"package{'s' * (len(missing_packages) > 1)} {' and '.join(missing_packages)}"
        raise UsageError(f"{by} needs the {packages}: pip install 'pytest-fcbench[{extra}]'")
