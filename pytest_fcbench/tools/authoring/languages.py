"""Guessing the language of a question."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping

UNKNOWN = "other"

_WORDS: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "English": "the and is are what for with of to in my please can you how i me on find",
        "German": "der die das und ist nicht ich mir bitte für mit ein eine wie zum von wann",
        "French": "le la les des est et pour une un je quel quelle moi dans avec du au",
        "Spanish": "el la los las es y para una un por favor cuál qué quiero del con en mi",
        "Portuguese": "o os as é e para uma um por favor qual quero do da com em meu não",
        "Italian": "il lo gli è e per una un quale vorrei del della con nel mi che di",
        "Dutch": "de het een en is voor ik van met wat mijn naar op graag niet",
        "Polish": "jest na do i w z dla proszę się nie jak mi jaki o",
        "Turkish": "ve bir için bu ne mi ile lütfen bana kaç var nasıl en çok daha sonra şekilde",
        "Indonesian": "yang dan untuk saya di dengan apa ini tolong ke dari berapa",
        "Vietnamese": "là và cho tôi của có một trong ở được bao nhiêu",
        "Swedish": "och är en ett för jag på med till vad det som inte",
    }.items()
}
_SCRIPTS = {"CJK": "Chinese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean"}


def guess_language(text: str) -> str:
    """Guess the language of a text by its script, in Latin script by common words.

    A script of several languages is returned by its name, ``UNKNOWN`` where no common word occurs.
    """
    scripts = Counter(unicodedata.name(sign, "OTHER").split()[0] for sign in text if sign.isalpha())
    if not scripts:
        return UNKNOWN
    if scripts["HIRAGANA"] + scripts["KATAKANA"] > 2:
        return "Japanese"
    # Texts in every language have names in Latin script, and a sign of other scripts can be a whole word.
    script = max(scripts, key=lambda name: scripts[name] if name == "LATIN" else 3 * scripts[name])
    if script != "LATIN":
        return _SCRIPTS.get(script, script.capitalize())
    words = Counter(re.findall(r"[^\W\d_]+", text.lower()))
    votes = {name: sum(words[word] for word in common) for name, common in _WORDS.items()}
    best = max(votes, key=lambda name: votes[name])
    return best if votes[best] else UNKNOWN
