"""Which requests ask the same, and where keys stand."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.execution.rest_apis import (
    APIS,
    NO_API,
    ApiRequest,
    NoRequestError,
    Request,
    has_key,
    identify_request,
    make_api_request,
    read_request,
    replace_key,
)
from tests.cases import each_case

METEO = "api.open-meteo.com"
OMDB = "www.omdbapi.com"
GEOCODE = "geocode.maps.co"
RATES = "v6.exchangerate-api.com"
COVID = "covid-193.p.rapidapi.com"


def is_same_request(one: ApiRequest, other: ApiRequest) -> bool:
    api = APIS.get(one.host, NO_API)
    return identify_request(one, api) == identify_request(other, api)


@each_case(
    ("one", "other"),
    [
        (
            make_api_request(METEO, "/v1/forecast?a=1&b=2"),
            make_api_request(METEO, "/v1/forecast", (("b", "2"), ("a", "1"))),
        ),
        (make_api_request(METEO, "/f?latitude=48.8584"), make_api_request(METEO, "/f?latitude=48.85840")),
        (make_api_request(METEO, "/f?latitude=+2.0"), make_api_request(METEO, "/f?latitude=2e0")),
        (make_api_request(METEO, "/f?latitude=0"), make_api_request(METEO, "/f?latitude=-0.0")),
        (make_api_request(METEO, "/f?latitude=1,2"), make_api_request(METEO, "/f?latitude=1.0&latitude=2")),
        (
            make_api_request(METEO, "/f?daily=a,b"),
            make_api_request(METEO, "/f", (("daily", "b"), ("daily", "a"))),
        ),
        (make_api_request(METEO, "/f?timezone=GMT&forecast_days=7"), make_api_request(METEO, "/f")),
        (make_api_request(OMDB, "/?t=x&r=json"), make_api_request(OMDB, "", (("t", "x"), ("apikey", "k")))),
        (make_api_request(OMDB, "/?t=x&apikey=one"), make_api_request(OMDB, "/?apikey=two&t=x")),
        (
            make_api_request(GEOCODE, "/search?q=a%20b&api_key=1"),
            make_api_request(GEOCODE, "/search/?q=a+b&api_key=2"),
        ),
        (make_api_request(RATES, "/v6/one/latest/EUR"), make_api_request(RATES, "/v6/two/latest/EUR")),
        (
            make_api_request(COVID, "/s?c=1", headers={"X-RapidAPI-Key": "a"}),
            make_api_request(COVID, "/s?c=1", headers={"x": "b"}),
        ),
        (make_api_request(COVID, "/st%61tistics"), make_api_request(COVID, "/statistics")),
    ],
)
def test_two_writings_of_one_request_are_the_same(one: ApiRequest, other: ApiRequest) -> None:
    assert is_same_request(one, other)


@each_case(
    ("one", "other"),
    [
        (make_api_request(METEO, "/f?latitude=1,2"), make_api_request(METEO, "/f?latitude=2,1")),
        (make_api_request(METEO, "/f?daily=a"), make_api_request(METEO, "/f?daily=a,b")),
        (make_api_request(METEO, "/f?hourly=a"), make_api_request(METEO, "/f?daily=a")),
        (make_api_request(METEO, "/f?temperature_unit=fahrenheit"), make_api_request(METEO, "/f")),
        (make_api_request(METEO, "/f?a="), make_api_request(METEO, "/f")),
        (make_api_request(GEOCODE, "/search?q=a,b"), make_api_request(GEOCODE, "/search?q=b,a")),
        (make_api_request(GEOCODE, "/search?q=a"), make_api_request(GEOCODE, "/reverse?q=a")),
        (make_api_request(RATES, "/v6/one/latest/EUR"), make_api_request(RATES, "/v6/one/latest/USD")),
        (make_api_request(RATES, "/v6/latest/EUR"), make_api_request(RATES, "/v6/one/latest/EUR")),
        (make_api_request(OMDB, "/?t=x"), make_api_request(GEOCODE, "/?t=x")),
        (make_api_request(OMDB, "/?t=X"), make_api_request(OMDB, "/?t=x")),
        (make_api_request(OMDB, "/?t=x&t=x"), make_api_request(OMDB, "/?t=x")),
    ],
)
def test_requests_for_different_things_differ(one: ApiRequest, other: ApiRequest) -> None:
    assert not is_same_request(one, other)


@given(st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), max_size=5), st.randoms())
def test_order_does_not_matter_among_different_names(params: list[tuple[str, str]], chance: object) -> None:
    unique = list(dict(params).items())
    shuffled = unique[:]
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert is_same_request(
        make_api_request(OMDB, "/", tuple(unique)), make_api_request(OMDB, "/", tuple(shuffled))
    )


@pytest.mark.parametrize(
    ("request_", "has", "filled"),
    [
        (make_api_request(COVID, "/s", headers={"X-RapidAPI-Key": "YOUR"}), True, {"x-rapidapi-key": "s/1"}),
        (make_api_request(COVID, "/s", headers={"X-RapidAPI-Key": ""}), False, {"x-rapidapi-key": ""}),
        (make_api_request(COVID, "/s"), False, {}),
    ],
)
def test_a_key_in_a_header(request_: ApiRequest, has: bool, filled: dict[str, str]) -> None:
    assert has_key(request_, APIS[COVID]) is has
    assert replace_key(request_, APIS[COVID], "s/1").headers == filled


def test_a_key_among_the_parameters() -> None:
    api, given_, missing = (
        APIS[OMDB],
        make_api_request(OMDB, "/?apikey=YOUR&t=x"),
        make_api_request(OMDB, "/?t=x"),
    )
    assert replace_key(given_, api, "s").params == (("apikey", "s"), ("t", "x"))
    assert has_key(given_, api)
    assert not has_key(missing, api)
    assert replace_key(missing, api, "s") == missing


def test_a_key_in_the_path() -> None:
    api = APIS[RATES]
    assert (
        replace_key(make_api_request(RATES, "/v6/YOUR/latest/EUR"), api, "s/1\\g<1>").path
        == "/v6/s%2F1%5Cg%3C1%3E/latest/EUR"
    )
    assert not has_key(make_api_request(RATES, "/v6/latest"), api)


def test_no_key_is_wanted() -> None:
    assert has_key(make_api_request("ip-api.com", "/json"), APIS["ip-api.com"])


def test_an_identity_holds_no_key() -> None:
    for request in (
        make_api_request(RATES, "/v6/sesame/latest/EUR"),
        make_api_request(OMDB, "/?apikey=sesame"),
        make_api_request(COVID, "/s", headers={"X-RapidAPI-Key": "sesame"}),
    ):
        assert "sesame" not in identify_request(request, APIS[request.host])


URL = "https://a.example/"


@each_case(
    ("arguments", "request_"),
    [
        (f"url='{URL}'", Request(URL)),
        (f"'{URL}', {{'a': 1}}", Request(URL, (("a", "1"),))),
        (
            f"url='{URL}', params={{'a': 1.50, 'b': True, 'c': None}}",
            Request(URL, (("a", "1.5"), ("b", "True"))),
        ),
        (
            f"url='{URL}', params={{'a': ['x', 2], 'b': 'y'}}",
            Request(URL, (("a", "x"), ("a", "2"), ("b", "y"))),
        ),
        (f"url='{URL}', params=[('a', 'x'), ['b', 'y']]", Request(URL, (("a", "x"), ("b", "y")))),
        (f"url='{URL}', params={{}}, headers=None", Request(URL)),
        (f"url='{URL}', headers={{'X-Key': 'k'}}", Request(URL, headers={"X-Key": "k"})),
        (f"url='{URL}', cookies={{'a': '1', 'b': '2'}}", Request(URL, headers={"Cookie": "a=1; b=2"})),
        (f"url='{URL}', auth=('me', 'pw')", Request(URL, headers={"Authorization": "Basic bWU6cHc="})),
        (f"url='{URL}', allow_redirects=False", Request(URL, follow=False)),
        (
            f"url='{URL}', timeout=(3, 5.5), stream=True, verify=False, proxies={{}}, cert=None, hooks=None",
            Request(URL),
        ),
        (f"url='{URL}', proxies={{'https': None}}", Request(URL)),
    ],
)
def test_a_request_is_read_from_its_call(arguments: str, request_: Request) -> None:
    assert read_request(f"requests.get({arguments})") == request_
    assert read_request(f"requests_get({arguments})") == request_


@each_case(
    ("call", "reason"),
    [
        ("", "Undecodable: not a function call: invalid syntax"),
        ("no call", "Undecodable: not a function call: invalid syntax"),
        ("requests.get", "NoCallError: not a function call: requests.get"),
        ("requests.get()", "missing 1 required positional argument: 'url'"),
        ("requests.get(url=5)", "TypeError: the url is int, not text"),
        ("requests.get(url=['https://a.example'])", "TypeError: the url is list, not text"),
        ("requests.get(url=None)", "TypeError: the url is NoneType, not text"),
        (f"requests.post(url='{URL}')", "NoCallError: there is no function requests.post"),
        (
            f"requests.get(url='{URL}').json()",
            "NoCallError: there is no function requests.get(url='https://a.example/').json",
        ),
        (f"requests.get(url=requests.get(url='{URL}'))", "TypeError: the url is Request, not text"),
        (
            f"requests.get(url='{URL}', params=requests.get(url='{URL}'))",
            "TypeError: params are Request, not a dict",
        ),
        (f"requests.get(url='{URL}', params='a=b')", "TypeError: params are str, not a dict"),
        (f"requests.get(url='{URL}', params=5)", "TypeError: params are int, not a dict"),
        (f"requests.get(url='{URL}', params=[1, 2])", "ValueError: params are a dict or a list of pairs"),
        (f"requests.get(url='{URL}', headers=[('a', 'b')])", "TypeError: headers are list, not a dict"),
        (f"requests.get(url='{URL}', headers={{'a': 5}})", "TypeError: headers are texts, not 'a': 5"),
        (f"requests.get(url='{URL}', headers={{5: 'a'}})", "TypeError: headers are texts, not 5: 'a'"),
        (f"requests.get(url='{URL}', cookies='a=b')", "TypeError: cookies are str, not a dict"),
        (
            f"requests.get(url='{URL}', auth=['me', 'pw'])",
            "TypeError: auth is a tuple of user name and password, not ['me', 'pw']",
        ),
        (
            f"requests.get(url='{URL}', auth='None')",
            "TypeError: auth is a tuple of user name and password, not 'None'",
        ),
        (
            f"requests.get(url='{URL}', timeout='10')",
            "ValueError: a timeout is a number of seconds above 0, not '10'",
        ),
        (
            f"requests.get(url='{URL}', timeout=0)",
            "ValueError: a timeout is a number of seconds above 0, not 0",
        ),
        (
            f"requests.get(url='{URL}', timeout=True)",
            "ValueError: a timeout is a number of seconds above 0, not True",
        ),
        (
            f"requests.get(url='{URL}', timeout=(1, 2, 3))",
            "ValueError: a timeout is a number of seconds above 0",
        ),
        (
            f"requests.get(url='{URL}', proxies={{'https': 'http://127.0.0.1'}})",
            "ValueError: proxies are not taken here",
        ),
        (f"requests.get(url='{URL}', proxies='http://127.0.0.1')", "ValueError: proxies are not taken here"),
        (
            f"requests.get(url='{URL}', verify='/etc/passwd')",
            "ValueError: verify must not name a file of this machine",
        ),
        (
            f"requests.get(url='{URL}', cert=('/etc/passwd', '/etc/shadow'))",
            "ValueError: cert is not taken here",
        ),
        (f"requests.get(url='{URL}', hooks={{'response': 'x'}})", "ValueError: hooks is not taken here"),
        (f"requests.get(url='{URL}', data='x')", "ValueError: data is not taken here"),
        (f"requests.get(url='{URL}', json={{'a': 1}})", "ValueError: json is not taken here"),
        (f"requests.get(url='{URL}', files={{'a': 'b'}})", "ValueError: files is not taken here"),
        (f"requests.get(url='{URL}', method='POST')", "TypeError: there is no argument 'method'"),
        (
            f"requests.get(url='{URL}', url='{URL}')",
            "NoCallError: the arguments of requests.get are not one value for each name",
        ),
        (
            f"requests.get(url=open('/etc/passwd').read() + '{URL}')",
            "Undecodable: Call in arithmetic would have to be evaluated",
        ),
        (
            f"requests.get(url=f'{URL}{{__import__(\"os\").getpid()}}')",
            "Undecodable: JoinedStr in arithmetic would have to be evaluated",
        ),
        (
            f"(lambda: requests.get(url='{URL}'))()",
            "NoCallError: there is no function lambda: requests.get(url='https://a.example/')",
        ),
        (f"requests.get(url='{URL}' * 10**9)", "Undecodable: the result of the arithmetic is too large"),
        (
            f"requests.get(url='{URL}', params={{'a': 9**9**9}})",
            "Undecodable: the result of the arithmetic is too large",
        ),
        (
            f"requests.get(url='{URL}', params={'[' * 5000}1{']' * 5000})",
            "Undecodable: not a function call: too many nested parentheses",
        ),
        (f"requests.get(url='{'a' * 2_000_000}')", "ValueError: the call has more than 1,000,000 characters"),
        (
            f"requests.get(url='{URL}', headers={{'a': '\ud800'}}, x)",
            "Undecodable: not a function call: 'utf-8' codec can't encode character '\\ud800' in",
        ),
        ("\0", "Undecodable: not a function call: source code string cannot contain null bytes"),
    ],
    ids=lambda call: call[:60],
)
def test_a_text_that_is_no_request_is_refused(call: str, reason: str) -> None:
    with pytest.raises(NoRequestError, match=re.escape(reason)):
        read_request(call)


@given(st.text())
def test_any_text_is_a_request_or_none(text: str) -> None:
    for call in (text, f"requests.get({text})", f"requests.get(url='{text}')"):
        try:
            assert isinstance(read_request(call), Request)
        except NoRequestError:
            continue
