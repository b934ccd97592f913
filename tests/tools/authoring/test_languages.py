from __future__ import annotations

import pytest

from pytest_fcbench.tools.authoring.languages import UNKNOWN, guess_language


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("What is the weather in Bergen?", "English"),
        ("Wie wird das Wetter in Bergen?", "German"),
        ("Quelle est la météo à Paris pour demain ?", "French"),
        ("¿Qué tiempo hace en la ciudad?", "Spanish"),
        ("Qual é a previsão do tempo para o Porto?", "Portuguese"),
        ("Saat yediye kadar en kolay nasıl giderim?", "Turkish"),
        ("東京の天気を教えてください", "Japanese"),
        ("查询 Tokyo 的天气", "Chinese"),
        ("서울 날씨 알려줘", "Korean"),
        ("ช่วยหา", "Thai"),
        ("print(42)", UNKNOWN),
        ("", UNKNOWN),
        ("12 + 3", UNKNOWN),
    ],
)
def test_the_language_of_a_question_is_guessed(text: str, spoken: str) -> None:
    assert guess_language(text) == spoken
