"""``fcbench help``: every page of the docs is readable where no site is."""

from __future__ import annotations

import pytest

from pytest_fcbench.cli.help import render_page
from pytest_fcbench.cli.main import main
from pytest_fcbench.cli.tree import QUESTIONS
from tests.conftest import ROOT

PAGES = sorted(path.stem for path in (ROOT / "docs").glob("*.md"))

TEXT = """\
# How do I read this?

<!-- project -->

Words go on
in a second line, [gates](gates.md#rules) and [the bill](store-and-costs.md#the-bill-of-a-run).

| you want to | read |
|---|---|
| know | [](faq.md), [](#how-do-i-read-this) |

```console
$ fcbench help

...
```

```{toctree}
faq
```

```{fcbench-options}
```

    pytest benchmarks
- An item that is longer than forty characters.
"""
SHOWN = """\
# How do I read this?

Words go on in a second line, `fcbench
help gates` and the bill (`fcbench help
store-and-costs`).

know
  read  fcbench help faq,
    'how-do-i-read-this'

    $ fcbench help

    ...

(The site of the docs has a table or a list here, which is made when it is built.)

    pytest benchmarks

- An item that is longer than forty
  characters.
"""


def test_a_page_is_written_for_a_terminal() -> None:
    lines = [line.rstrip() for line in render_page(TEXT, 40)]
    assert "\n".join(lines) == SHOWN


@pytest.mark.parametrize("page", PAGES)
def test_every_page_is_printed_without_markup(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", page]) == 0
    told = capsys.readouterr().out
    assert not [sign for sign in ("](", "```{", "<!--", "|---") if sign in told]


def test_the_bare_command_asks_the_questions_that_pages_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 4
    told = capsys.readouterr().out
    for name in QUESTIONS:
        (line,) = [line for line in told.splitlines() if line.split()[:1] == [name]]
        assert line.endswith("?")
        assert len(line) <= 80


def test_without_a_page_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help"]) == 0
    told = capsys.readouterr().out
    assert not [page for page in PAGES if page not in ("index", "api", "changelog") and page not in told]


def test_an_unknown_page_is_refused_with_the_one_that_is_meant(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["help", "provider"])
    assert ended.value.code == 4
    assert capsys.readouterr().err.startswith(
        "fcbench help: error: unknown page 'provider'. Did you mean 'providers' or 'profiles'? There are "
    )
