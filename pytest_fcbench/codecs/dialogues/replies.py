"""Read the reply of an API in the form of its family."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcbench.codecs.dialogues.forms.chat import ChatForm
from pytest_fcbench.codecs.dialogues.forms.cohere import CohereForm
from pytest_fcbench.codecs.dialogues.forms.converse import ConverseForm
from pytest_fcbench.codecs.dialogues.forms.form import Form, list_members, read_text
from pytest_fcbench.codecs.dialogues.forms.generate_content import GenerateContentForm
from pytest_fcbench.codecs.dialogues.forms.messages import MessagesForm
from pytest_fcbench.codecs.dialogues.forms.responses import ResponsesForm
from pytest_fcbench.codecs.token_usage import CHAT, read_tokens
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.prompting import Api
from pytest_fcbench.domain.protocol_notes import read_ending
from pytest_fcbench.domain.transcript import Completion

FORMS: Mapping[Api, Form] = {
    form.api: form
    for form in (
        ChatForm(),
        CohereForm(),
        ConverseForm(),
        GenerateContentForm(),
        MessagesForm(),
        ResponsesForm(),
    )
}
"""The form of each API with messages."""


def read_family_reply(api: Api, reply: Mapping[str, object]) -> Completion:
    """Read the JSON of a reply. Raises ``CallError`` for one that is none of this API."""
    if api is not Api.COMPLETIONS:
        return FORMS[api].read_reply(reply)
    choices = list_members(reply.get("choices"))
    if not choices:
        raise CallError("endpoint", "the endpoint answered without any choice", transient=True)
    reason = choices[0].get("finish_reason")
    return Completion(
        text=read_text(choices[0].get("text")),
        finish_reason=read_text(reason),
        ending=read_ending(reason),
        **read_tokens(reply.get("usage"), CHAT),
    )
