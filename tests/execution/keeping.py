"""Where tests keep what web APIs answered."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Kept:
    """In memory."""

    texts: dict[str, str] = field(default_factory=dict)
    offline: bool = False

    def get(self, key: str) -> str | None:
        return self.texts.get(key)

    def put(self, key: str, host: str, text: str) -> None:
        self.texts[key] = text
