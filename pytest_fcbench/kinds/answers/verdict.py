"""Judge final answers in words (BFCL's agentic categories).

Officially (``_evaluate_single_agentic_entry``, ``agentic_checker``) the result must be one turn
(``agentic:inference_error``). Of its steps the last counts that is no call or cannot be read; one that is
empty is ``agentic:no_last_message``. Message and right answers lose ``, . / - _ * ^ ( )``, become lower case,
and get double quotes for single ones; one of the answers must stand in the message between word
boundaries (``\\b``), wherever (``agentic:answer_not_found``).

The corrected profile differs in this:

- The required form is read: only what stands under ``answer`` counts, so that a refusal whose context names
  the right answer fails (``agentic:refused``), also one without the form. A message in another form counts
  as a whole. A call that cannot be read is no answer (``agentic:unreadable_call``).
- Words and numbers are compared, not letters. A number is its value (``116,175`` is ``116175``, ``05`` is
  ``5``, ``1.8`` is not ``18``), ``49.99`` is found in ``$49.99`` and the other way round, but not in another
  currency. Accents do not count, nor does how a word is joined (``Engi-House``, ``Engi House``), nor the
  form of Unicode, nor which spaces, quotes and hyphens it has.
- Articles do not count, nor whether a common noun is in the singular or the plural (``glue sticks`` is
  ``Glue Stick``). In names it counts: ``Williams`` is not ``William``.
- Amounts, dates and times are compared by their values, however they are written (``9am``, ``09:00``).
- A right answer must not be denied (``not 75``), and no rival may stand beside it (``agentic:rivals``), as
  ``stated_values`` says.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from pytest_fcbench.codecs.decoders.syntax import LONGEST_LITERAL, Unreadable
from pytest_fcbench.codecs.python_syntax import read_literal
from pytest_fcbench.domain.entry import Entry, Expectation
from pytest_fcbench.domain.text import read_json_at
from pytest_fcbench.domain.transcript import WEBS, Transcript, completion_to_json, drop_reasoning
from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored, Passed, Verdict
from pytest_fcbench.judging.stated_values import find_rival, has_right_value, read_value
from pytest_fcbench.judging.text_normalization import mark_lookalikes, unify_forms
from pytest_fcbench.kinds.kind import find_early_verdict, read_last_answer

INFERENCE_ERROR = "agentic:inference_error"
NO_LAST_MESSAGE = "agentic:no_last_message"
NOT_FOUND = "agentic:answer_not_found"
REFUSED = "agentic:refused"
RIVALS = "agentic:rivals"
UNREADABLE = "agentic:unreadable_call"


def judge(entry: Entry, transcript: Transcript) -> Judgement:
    """Judge the final answer of a conversation. ``entry`` must have right answers."""
    if not isinstance(entry.expectation, Answers):
        raise TypeError(f"{entry.key} has no answers")
    for aside in transcript.asides:
        # Officially the model gets the error of the failed search, and is still judged.
        if aside.party in WEBS and aside.completion.fault:
            cause, _, reason = (aside.completion.text or "").partition(": ")
            return Judgement.same_in_both(NotScored(cause, reason))
    right = entry.expectation.texts
    return Judgement(_judge_officially(transcript, right), _judge_corrected(entry, transcript, right))


# Officially


def _judge_officially(transcript: Transcript, right: Sequence[str]) -> Verdict:
    # Official: an inference error is a result of another shape than one turn of steps, hence the same code.
    if transcript.last.fault:
        return Failed(INFERENCE_ERROR, f"the model's call failed: {transcript.last.text}")
    if len(transcript.turns) != 1:
        return Failed(INFERENCE_ERROR, f"there is one question, but {len(transcript.turns)} were answered")
    message = last_message(transcript)
    if not message:
        return Failed(NO_LAST_MESSAGE, "no answer is left: the last one is empty, or all are calls")
    return match_answer(message, right)


def last_message(transcript: Transcript) -> object:
    """Return the last step without calls in the form of a result file: a text, or a list."""
    last = [step.completion for step in transcript.turns[0] if not step.calls][-1:]
    if not last:
        return None
    # A result file has tool calls in place of the text, also where they could not be carried out.
    calls = completion_to_json(last[0])["tool_calls"] if transcript.prompting.syntax == "tool_calls" else None
    return last[0].text if calls is None else calls


def match_answer(message: object, right: Sequence[str]) -> Passed | Failed:
    """Return the official verdict on a final message. Of a list the first part counts."""
    text = _standardize(_first_text(message))
    # The official expression has \b around the answer, so one that begins with a sign such as $ can fail.
    if any(re.search(rf"\b{re.escape(_standardize(answer))}\b", text) for answer in right):
        return Passed()
    return _fail_unsaid(_first_text(message), right)


def _fail_unsaid(answer_text: str, right: Sequence[str]) -> Failed:
    shown, right_answers = mark_lookalikes(f"{answer_text!r:.300}", " or ".join(map(repr, right)))
    return Failed(NOT_FOUND, f"the answer {shown} does not say {right_answers}", {"expected": [*right]})


def describe_missing_answer(message: object, right: Sequence[str]) -> Mapping[str, object]:
    """Return the official score file's facts about an answer that was not found."""
    answer_text = _first_text(message)
    return {
        "model_response": answer_text,
        "possible_answers": [*right],
        "standardized_model_response": _standardize(answer_text),
        "standardized_possible_answers": [*map(_standardize, right)],
    }


def _first_text(message: object) -> str:
    return str(next(iter(message), "") if isinstance(message, list) else message)


_DROPPED = str.maketrans({**dict.fromkeys(",./-_*^()"), "'": '"'})


def _standardize(text: str) -> str:
    """Standardize a text as this official checker does; unlike the one of arguments it keeps spaces."""
    return text.translate(_DROPPED).lower()


# Corrected


def _judge_corrected(entry: Entry, transcript: Transcript, right: Sequence[str]) -> Verdict:
    if early_verdict := find_early_verdict(entry, transcript):
        return early_verdict
    last = transcript.turns[-1][-1]
    text = drop_reasoning(last.completion.text or "")
    # Carried-out calls in the last step mean that the conversation was ended before an answer.
    if last.calls or not (text.strip() or last.completion.tool_calls):
        why = "the last step calls a function" if last.calls else "the answer is empty"
        return Failed(NO_LAST_MESSAGE, why)
    answer_text = read_stated_answer(text)
    if answer_text is None:
        reading = read_last_answer(entry, transcript)
        if isinstance(reading, Unreadable):
            return Failed(UNREADABLE, f"the last message tries to call: {reading.reason}")
        answer_text = text
    answer_text, right = unify_forms(answer_text), [*map(unify_forms, right)]
    if len(answer_text) > _LONGEST_ANSWER:
        length = f"it has {len(answer_text):,} characters, and at most {_LONGEST_ANSWER:,} are looked through"
        return Failed(NOT_FOUND, f"the answer is too long: {length}", {"expected": [*right]})
    if _REFUSAL.search(answer_text):
        return Failed(REFUSED, f"the model does not answer: {answer_text!r:.300}")

    def is_right(text: str) -> bool:
        return any(states_answer(text, answer) for answer in right) or has_right_value(text, right)

    if not is_right(answer_text):
        return _fail_unsaid(answer_text, right)
    if rival := find_rival(answer_text, right, is_right):
        explanation = f"the answer {answer_text!r:.300} also offers {rival!r}, where one answer is asked for"
        return Failed(RIVALS, explanation, {"expected": [*right]})
    return Passed()


_REFUSAL = re.compile(
    r"\bi (?:do(?: not|n['’]t) know|(?:cannot|can['’]t|can not|am unable to) answer)\b", re.IGNORECASE
)

_LONGEST_ANSWER = 20_000
"""Characters of an answer in which the right one is looked for; the question asks for a few words."""

_KEY = r"[\"'“”‘’]?{}[\"'“”‘’]?\s*:"
_ANSWER = re.compile(rf"[{{,]\s*{_KEY.format('answer')}\s*", re.IGNORECASE)
_MOST_BRACES = 8
"""Braces before the key that are tried as the beginning of its object."""
_END = rf"(?:,\s*{_KEY.format('context')}|\}}|\Z)"


def read_stated_answer(text: str) -> str | None:
    """Return the value of ``answer`` in the last object with that key; None without such an object.

    The object may be JSON, a Python dict, or nearly one of these, and stand in prose or in a fence.
    """
    # The prompt asks for an object with answer and context; the last one counts.
    matches = list(_ANSWER.finditer(text))
    if not matches:
        return None
    end = matches[-1].end()
    # The nearest brace may begin another member.
    braces = [match.start() for match in re.finditer("{", text[:end])]
    for start in braces[: -_MOST_BRACES - 1 : -1]:
        if (value := _read_answer(text[start:], end - start)) is not None:
            return value
    # No object: the value reaches to the next key or the end, as quotes in it may lack a backslash.
    opening = text[end : end + 1] if text[end : end + 1] in "\"'“‘" else ""
    closing = {"“": "”", "‘": "’"}.get(opening, opening)
    rest = text[end + len(opening) :]
    stop = re.search(rf"{closing}\s*{_END}", rest)
    return re.sub(r"\\(['\"])", r"\1", rest[: stop.start() if stop else None])


def _read_answer(text: str, key_end: int) -> str | None:
    """Return the answer in an object that a text begins with and that holds a key's place, or None."""
    value: object = None
    try:
        value, end = read_json_at(text)
    except (ValueError, RecursionError):
        # Models also write a Python dict, with single quotes and None.
        end = text.rfind("}") + 1
        with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            value = read_literal(text[:end]) if end <= LONGEST_LITERAL else None
    # An object that ends before the key was withdrawn by the one that has it.
    if end < key_end:
        return None
    members = {str(key).lower(): member for key, member in value.items()} if isinstance(value, dict) else {}
    answer = members.get("answer")
    if isinstance(answer, list | tuple):
        return ", ".join(map(str, answer))
    return None if answer is None else str(answer)


# The signs of C++, C# and A+ belong to the letter.
_TOKEN = re.compile(
    r"((?:(?<![\w.])[-−])?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?)"
    r"|((?<![^\W_])[^\W\d_][+#]+(?!\w)|[^\W\d_]+)|([$€£¥])"
)
_SIGN = re.compile(r"(?<![\w.])(?<!\d\s)([-−])([$€£¥])(?=\d)")
"""The sign of an amount before its currency."""
_CURRENCIES = {
    **dict.fromkeys(("$", "dollar", "dollars", "usd"), "$"),
    **dict.fromkeys(("€", "euro", "euros", "eur"), "€"),
    **dict.fromkeys(("¥", "yen", "jpy"), "¥"),
    **dict.fromkeys(("£", "gbp"), "£"),
}
_DENIALS = frozenset(("not", "cannot", "never", "neither", "nor", "no longer", "rather than", "instead of"))
_APOSTROPHES = str.maketrans(dict.fromkeys("’`´′", "'"))
_BETWEEN = ("at", "be", "by", "from", "in", "on")
"""Words that may stand between a denial and what it denies."""
_PAUSE = re.compile(r"[^.,;!?\"']*[.,;!?\"'].*\s", re.DOTALL)
"""The end of a clause, or of a title (``"Why Not" by ...``), behind which nothing is denied."""


class _Word(NamedTuple):
    text: str
    """A word without accents, or the value of a number between ``#``."""
    glued: bool
    """True where it follows the word before without a gap (``7th``)."""
    is_common: bool
    """True for a word in small letters, which is no name."""
    is_article: bool
    is_contracted_not: bool
    """True for the end of ``isn't``, not for the initial of ``John T. Ek``."""
    follows_pause: bool


def states_answer(text: str, answer: str) -> bool:
    """Tell whether a text has the words and numbers of an answer in order, and does not deny them."""
    value = read_value(answer)
    # Without their currency "a dollar" would be an article, and "one dollar" a word of many sentences.
    has_amount = any(map(str.isdigit, answer)) or (value is not None and value.number not in (None, 1))
    answer_words, currencies = _split_words(answer, has_amount=has_amount)
    text_words, others = _split_words(text, has_amount=has_amount)
    # Currencies clash only where both sides name one: 49.99 is right for $49.99.
    if not answer_words or (currencies and others and currencies.isdisjoint(others)):
        return False
    if significant := [word for word in answer_words if not word.is_article]:
        answer_words, text_words = significant, [word for word in text_words if not word.is_article]
    # Compared without gaps, because it does not count how a word is joined.
    *before, last = (word.text for word in answer_words)
    whole = "".join([*before, last])
    if _has_words(text_words, whole):
        return True
    other_forms = ("".join([*before, other]) for other in _list_plural_and_singular_forms(last))
    return any(_has_words(text_words, form, common=not answer_words[-1].is_common) for form in other_forms)


def _has_words(words: Sequence[_Word], whole: str, *, common: bool = False) -> bool:
    """Tell whether words make up a text, where ``common`` asks for a last one that is no name."""
    for start, first in enumerate(words):
        # A word glued to its neighbour is a part of another one: 7 is not in 7th.
        if first.glued or _is_denied(words, start):
            continue
        joined_text, end = "", start
        while len(joined_text) < len(whole) and end < len(words) and whole.startswith(joined_text):
            joined_text += words[end].text
            end += 1
        is_whole = joined_text == whole and not (end < len(words) and words[end].glued)
        if is_whole and (words[end - 1].is_common or not common):
            return True
    return False


def _is_denied(words: Sequence[_Word], start: int, most_between: int = 2) -> bool:
    """Tell whether the word before a place denies what begins there (``not 75``, ``isn't in Oslo``)."""
    if not start or words[start].follows_pause:
        return False
    *_, two_before, before = ["", *(word.text for word in words[max(0, start - 2) : start])]
    if before in _BETWEEN and most_between:
        return _is_denied(words, start - 1, most_between - 1)
    return words[start - 1].is_contracted_not or not _DENIALS.isdisjoint((before, f"{two_before} {before}"))


_HISSING = ("s", "x", "z", "ch", "sh")


def _list_plural_and_singular_forms(word: str) -> Iterator[str]:
    """Yield what a noun can be in the plural if it is in the singular, and the other way round."""
    if not word.isalpha() or len(word) < 3:
        return
    yield word + ("es" if word.endswith(_HISSING) else "s")
    if word.endswith("y"):
        yield f"{word[:-1]}ies"
    if word.endswith("ies"):
        yield f"{word[:-3]}y"
    if word.endswith("es") and word[:-2].endswith(_HISSING):
        yield word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        yield word[:-1]


def _split_words(text: str, *, has_amount: bool) -> tuple[list[_Word], set[str]]:
    """Split a text into words and numbers, and the currencies that it names.

    Where the right answer has no amount, a currency is a word like others (``Dollar General``).
    """
    decomposed_text = unicodedata.normalize("NFKD", text.translate(_APOSTROPHES))
    plain = "".join(c for c in decomposed_text if not unicodedata.combining(c))
    plain = _SIGN.sub(r"\2\1", plain)
    words: list[_Word] = []
    currencies: set[str] = set()
    end = -1
    for token in _TOKEN.finditer(plain):
        number, token_text = token[1], token[0]
        text = token_text.casefold()
        if (currency := _CURRENCIES.get(text)) and (has_amount or token[3]):
            currencies.add(currency)
            continue
        # ``a`` is one only in small letters and before a gap: not in "Plan A" and "10 a.m.".
        is_article = (text == "the" or token_text in ("a", "an")) and plain[
            token.end() : token.end() + 1
        ].isspace()
        if number:
            # As its digits, not as a float, which would take long numbers that differ for the same.
            sign = "-" if number[0] in "-−" else ""
            whole, _, decimals = number.lstrip("-−").replace(",", "").partition(".")
            decimals = decimals.rstrip("0")
            text = f"#{sign}{whole.lstrip('0') or '0'}{'.' if decimals else ''}{decimals}#"
        start, last_word = token.start(), words[-1] if words else None
        is_contracted_not = text == "t" and plain[max(0, start - 2) : start].casefold() == "n'"
        # An article does not end a pause: "it isn't, the Beatles are".
        last_pauses = last_word is not None and last_word.is_article and last_word.follows_pause
        follows_pause = last_pauses or _PAUSE.match(plain, max(end, 0), start) is not None
        words.append(
            _Word(text, start == end, token_text.islower(), is_article, is_contracted_not, follows_pause)
        )
        end = token.end()
    return words, currencies


@dataclass(frozen=True, slots=True)
class Answers(Expectation):
    """The final answer must say one of these, each of which is right."""

    rests_on_results: ClassVar[bool] = True

    texts: tuple[str, ...]
    trail: tuple[tuple[str, ...], ...] = ()
    """Calls that lead to it, step by step, as Python text; none where only the answer is known."""


@dataclass(frozen=True, slots=True)
class Facts(Expectation):
    """Facts that later conversations ask for, turn by turn. This conversation is not judged."""

    is_judged: ClassVar[bool] = False

    turns: tuple[tuple[str, ...], ...]
