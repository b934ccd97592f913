"""Plain sentences for the codes of failures: what each means, and what to look at.

Codes of the official profile are the ``error_type`` of BFCL's code, or ComplexFuncBench's error types. The
page ``docs/failure-codes.md`` is made of these tables when the docs are built.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class FailureCode(NamedTuple):
    """The meaning of a code, and where to look next."""

    meaning: str
    advice: str


_UNREADABLE = "run `fcbench show` to see the answer; `--fcbench-syntax` names how this model writes its calls"
_VALUE = "compare the marked argument with the question and with the function's description"
_TYPE = "look at the declared type of the marked argument: text, number and list are not converted"
_COUNT = (
    "check whether the question asks for one call or several, and which of them is missing or not asked for"
)
_RESULT = "run `fcbench show` to see what each call returns"
_STATE = "run `fcbench show` to see each call, what it returned and what it changed"
_NAME = "compare the called function with the functions that were offered"
_SETTING = "this is a matter of settings more often than of the model"

SINGLE_TURN: Mapping[str, FailureCode] = {
    "ast_decoder:decoder_failed": FailureCode("The answer could not be read as function calls.", _UNREADABLE),
    "ast_decoder:decoder_wrong_output_format": FailureCode(
        "The answer was read, but it is not a list of calls with named arguments.", _UNREADABLE
    ),
    "unreadable": FailureCode("The answer tries to call a function but cannot be read.", _UNREADABLE),
    "no_call": FailureCode(
        "The answer calls no function, although calls are expected.",
        "in function calling mode, look whether the server returns tool calls at all (`fcbench doctor`)",
    ),
    "simple_function_checker:wrong_count": FailureCode("Exactly one call is expected.", _COUNT),
    "multiple_function_checker:wrong_count": FailureCode(
        "Exactly one call of the right function is expected.", _COUNT
    ),
    "parallel_function_checker_no_order:wrong_count": FailureCode(
        "The number of calls is not the expected one.", _COUNT
    ),
    "wrong_count": FailureCode("The number of calls is not the expected one.", _COUNT),
    "simple_exec_checker:wrong_count": FailureCode("The number of calls is not the expected one.", _COUNT),
    "value_error:exec_result_count": FailureCode("The number of calls is not the expected one.", _COUNT),
    "parallel_function_checker_no_order:cannot_find_match": FailureCode(
        "No call of the answer matches one of the expected calls.", _VALUE
    ),
    "cannot_find_match": FailureCode("No call of the answer matches one of the expected calls.", _VALUE),
    "simple_function_checker:wrong_func_name": FailureCode("Another function was called.", _NAME),
    "simple_function_checker:missing_required": FailureCode(
        "A required argument is missing.", "the question gives its value, in its words or by implication"
    ),
    "simple_function_checker:missing_optional": FailureCode(
        "An optional argument is missing whose value the question states.",
        "its default is not what the question asks for",
    ),
    "simple_function_checker:unexpected_param": FailureCode(
        "An argument was given that the function does not have, or that has to be left out.",
        "leave out arguments that the question says nothing about",
    ),
    "simple_function_checker:unclear": FailureCode(
        "The expected function is not among those that were offered.",
        "this is an error of the entry; `fcbench audit` finds such entries",
    ),
    "unclear": FailureCode(
        "The expected function is not among those that were offered.",
        "this is an error of the entry; `fcbench audit` finds such entries",
    ),
    "type_error:simple": FailureCode("The value of an argument has another type than declared.", _TYPE),
    "type_error:nested": FailureCode(
        "An element of a list has another type than declared.",
        "whole numbers inside a list are not converted: `[1, 2]` is not a list of floats",
    ),
    "type_error:java": FailureCode(
        "The value of an argument is not Java source text.", "values of Java calls are written as text"
    ),
    "type_error:js": FailureCode(
        "The value of an argument is not JavaScript source text.",
        "values of JavaScript calls are written as text",
    ),
    "value_error:string": FailureCode(
        "A text is not among the accepted ones; case, spaces and some punctuation are ignored.", _VALUE
    ),
    "value_error:others": FailureCode("A value is not among the accepted ones.", _VALUE),
    "value_error:number": FailureCode("A number is not among the accepted ones.", _VALUE),
    "value_error:boolean": FailureCode("A boolean is not the accepted one.", _VALUE),
    "value_error:list": FailureCode("A list is not among the accepted ones; the order counts.", _VALUE),
    "value_error:list/tuple": FailureCode("A list is not among the accepted ones; the order counts.", _VALUE),
    "value_error:dict": FailureCode("An object is not among the accepted ones.", _VALUE),
    "value_error:dict_key": FailureCode("An object lacks a key or has one too many.", _VALUE),
    "value_error:dict_value": FailureCode("A member of an object is not among the accepted values.", _VALUE),
    "value_error:list_dict_count": FailureCode("A list of objects has another length.", _VALUE),
    "value_error:null": FailureCode("Null is not among the accepted values.", _VALUE),
    "dict_checker:unclear": FailureCode("An object could not be compared with the accepted ones.", _VALUE),
    "list_dict_checker:unclear": FailureCode(
        "A list of objects could not be compared with the accepted ones.", _VALUE
    ),
}
"""Codes of answers whose calls are compared with expected calls."""

RELEVANCE: Mapping[str, FailureCode] = {
    "irrelevance_error:decoder_success": FailureCode(
        "A function was called, although none that was offered fits the question.", _NAME
    ),
    "irrelevance:call": FailureCode(
        "A function was called, although none that was offered fits the question.", _NAME
    ),
    "irrelevance:unreadable_call": FailureCode(
        "The answer tries to call a function, although none fits; the call cannot be read.", _UNREADABLE
    ),
    "relevance_error:decoder_failed": FailureCode(
        "The answer calls no function, although one that was offered fits.", _UNREADABLE
    ),
    "relevance:no_call": FailureCode(
        "The answer calls no function, although one that was offered fits.", _NAME
    ),
    "relevance:unknown_function": FailureCode("A function was called that was not offered.", _NAME),
    "relevance:unreadable_call": FailureCode(
        "The answer tries to call a function but cannot be read.", _UNREADABLE
    ),
    "chat:empty": FailureCode("The reply is empty.", _SETTING),
}
"""Codes of answers that must call, or must not call, whatever the arguments."""

EXECUTION: Mapping[str, FailureCode] = {
    "executable_decoder:decoder_failed": FailureCode(
        "The answer could not be read as function calls.", _UNREADABLE
    ),
    "executable_decoder:wrong_output_format": FailureCode("The answer calls nothing.", _UNREADABLE),
    "executable_decoder:rest_wrong_output_format": FailureCode("Exactly one request is expected.", _COUNT),
    "executable_checker:wrong_result": FailureCode(
        "A call returns something else than the expected call.", _RESULT
    ),
    "executable_checker:wrong_result_type": FailureCode(
        "A call returns a value of another type than the expected call.", _RESULT
    ),
    "executable_checker:wrong_result_real_time": FailureCode(
        "A call returns a number that is more than 20 % away from the expected one.", _RESULT
    ),
    "executable_checker:wrong_result_type:list_length": FailureCode(
        "A call returns a list whose length differs from that of the expected call.", _RESULT
    ),
    "executable_checker:wrong_result_type:dict_key_not_found": FailureCode(
        "A call returns an object without a key that the expected call returns.", _RESULT
    ),
    "executable_checker:wrong_result_type:dict_extra_key": FailureCode(
        "A call returns an object with a key that the expected call does not return.", _RESULT
    ),
    "executable_checker:execution_error": FailureCode("A call ends with an error when it is run.", _RESULT),
    "executable_checker:cannot_find_match": FailureCode(
        "No call returns what one of the expected calls returns.", _RESULT
    ),
    "executable_checker:time_limit": FailureCode("A call takes too much processor time.", _RESULT),
    "executable_checker:memory_limit": FailureCode("A call needs too much memory.", _RESULT),
    "executable_checker_rest:execution_error": FailureCode("The request could not be made.", _RESULT),
    "executable_checker_rest:cannot_get_status_code": FailureCode(
        "The call returns something else than the response of a web API.", _RESULT
    ),
    "executable_checker_rest:wrong_status_code": FailureCode(
        "The web API answers the request with an error.", _RESULT
    ),
    "executable_checker_rest:response_format_error": FailureCode(
        "The web API answers with JSON of another shape.", _RESULT
    ),
    "executable_checker_rest:wrong_type": FailureCode("The web API answers with another type.", _RESULT),
    "executable_checker_rest:wrong_key": FailureCode("The web API answers with other keys.", _RESULT),
    "executable_checker_rest:wrong_value": FailureCode("The web API answers with other values.", _RESULT),
    "value_error:exec_result_rest_count": FailureCode(
        "The web API answers with another number of elements.", _RESULT
    ),
    "sql:cannot_translate": FailureCode("The statement is not SQL.", _RESULT),
    "sql:error": FailureCode("The statement ends with an error when it is run.", _RESULT),
    "sql:refused": FailureCode("The statement uses something that is not allowed here.", _RESULT),
    "sql:too_much": FailureCode("The statement takes too long or returns too much.", _RESULT),
    "sql:unknown_name": FailureCode("The statement names a table or column that does not exist.", _RESULT),
    "sql:wrong_result": FailureCode("The statement returns other rows than the expected one.", _RESULT),
    "sql:wrong_state": FailureCode("The tables are not as after the expected statement.", _RESULT),
}
"""Codes of calls, requests and statements that are carried out."""

CONVERSATIONS: Mapping[str, FailureCode] = {
    "multi_turn:instance_state_mismatch": FailureCode(
        "After a turn the environment is not as after the expected calls.", _STATE
    ),
    "multi_turn:hidden_state_mismatch": FailureCode(
        "After a turn the brake pedal is not pressed as far as after the expected calls, which the official "
        "code does not compare.",
        _STATE,
    ),
    "multi_turn:execution_response_mismatch": FailureCode(
        "In a turn no call returned what one of the expected calls returns.", _STATE
    ),
    "multi_turn:empty_turn_model_response": FailureCode("No call was made in a turn that needs one.", _STATE),
    "multi_turn:force_terminated": FailureCode(
        "The conversation was ended before its last turn, mostly after twenty answers with calls in a turn.",
        "look for calls that repeat",
    ),
    "multi_turn:inference_error": FailureCode("The model gave no answer in a turn.", _SETTING),
    "multi_turn:irrelevance_error:decoder_success": FailureCode(
        "A call needed what is withheld until a later turn (a value, a function or the request itself), or "
        "invented it.",
        "the right answer asks the user",
    ),
    "multi_turn:irrelevance_error:unreadable_call": FailureCode(
        "A call was tried in a turn in which nothing can be called yet; it cannot be read.",
        "the right answer asks the user",
    ),
    "agentic:answer_not_found": FailureCode(
        "The final answer does not contain the expected text.",
        "run `fcbench show` to see what was searched or remembered on the way",
    ),
    "agentic:no_last_message": FailureCode(
        "The conversation ended without a final answer in words.", "look for calls that repeat"
    ),
    "agentic:inference_error": FailureCode("The model gave no answer.", _SETTING),
    "agentic:refused": FailureCode(
        "The final answer says that the model does not know.",
        "run `fcbench show` to see what was searched or remembered on the way",
    ),
    "agentic:rivals": FailureCode(
        "The final answer gives another value besides the right one, although only one is asked for.",
        "ask for one answer in the prompt, or look at what made the model doubt",
    ),
    "agentic:unreadable_call": FailureCode(
        "The last message tries to call a function but cannot be read.", _UNREADABLE
    ),
    "func_error": FailureCode("A call was expected that was not made.", _STATE),
    "func_hallucination": FailureCode(
        "A call was made after every expected call had been made, or of a function that is not offered.",
        _STATE,
    ),
    "param_missing": FailureCode("A call lacks an argument.", _VALUE),
    "param_hallucination": FailureCode(
        "A call has an argument that the question does not ask for, or that its function does not have.",
        _VALUE,
    ),
    "value_error": FailureCode("An argument has another value than expected, or another type.", _VALUE),
    "format_error": FailureCode("A call cannot be read.", _UNREADABLE),
    "decode_error": FailureCode("A call cannot be read, or names no function.", _UNREADABLE),
    "stop_early": FailureCode("The model stopped before all expected calls were made.", _STATE),
    "step_limit": FailureCode(
        "The conversation was ended after its greatest number of answers.", "look for calls that repeat"
    ),
    "unknown_error": FailureCode("The answer holds neither calls nor text.", _SETTING),
    "crash": FailureCode(
        "The official code would have crashed on the answer, which counts as a failure.", _UNREADABLE
    ),
}
"""Codes of conversations of several turns or steps."""

ENDINGS: Mapping[str, FailureCode] = {
    "context_overflow": FailureCode(
        "The request did not fit into the model's context.",
        "start the server with a longer context if the model can read more",
    ),
    "unreadable_call": FailureCode(
        "The server could not read a call that the model wrote, and refused its own model's answer or the "
        "request that repeats it.",
        "run `fcbench show` to see the server's words; a newer server may read the call",
    ),
    "too_large": FailureCode(
        "The answer is longer than a run reads, or its conversation has more calls than a run carries out.",
        "look for a loop in the model's answer; raise `--fcbench-max-answer` if it is right",
    ),
    "own_assertion": FailureCode(
        "An assertion in the body of the test, or a check that the suite names, refused the answer.",
        "read the assertion beside it",
    ),
    "forbidden_call": FailureCode(
        "A function was called that the entry forbids.", "read the call beside the question"
    ),
    "answer:length": FailureCode(
        "The answer was cut at the limit of its tokens.", "raise `--fcbench-max-tokens`"
    ),
    "answer:content_filter": FailureCode(
        "The provider's content filter stopped the answer.", "ask the provider, or use another endpoint"
    ),
    "answer:refusal": FailureCode("The model refused to answer.", "read its words with `fcbench show`"),
    "answer:function_call": FailureCode(
        "The answer uses the legacy field `function_call`, which is not read.", "update the server"
    ),
}
"""Codes that say how the answer ended, whatever was expected."""

FAILURE_CODES: Mapping[str, FailureCode] = {
    **SINGLE_TURN,
    **RELEVANCE,
    **EXECUTION,
    **CONVERSATIONS,
    **ENDINGS,
}
"""Every code that a verdict of this package can have."""

_OTHER = FailureCode(
    "A matcher of another package, or of another version, gave this code.", "read the reason beside it"
)


def find_failure_code(code: str) -> FailureCode:
    """Return the meaning of a code; verdicts of other packages may have codes of their own."""
    return FAILURE_CODES.get(code, _OTHER)
