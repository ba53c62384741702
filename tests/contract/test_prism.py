"""Prism enforces GitHub's contract: a request that breaks it is refused."""

import json
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.contract.fake_github import GitHub, Object, Pull


def send(github: GitHub, data: Object | None) -> int:
    url = f"{github.url}/repos/acme/app/issues/7/comments"
    headers = {"Authorization": "token actions", "Content-Type": "application/json"}
    content = None if data is None else json.dumps(data).encode()
    try:
        with urlopen(Request(url, data=content, headers=headers), timeout=20) as answer:
            return int(answer.status)
    except HTTPError as error:
        return error.code


def test_a_request_that_breaks_the_contract_does_not_arrive(contract: GitHub) -> None:
    assert send(contract, {"body": "text"}) == 201
    contract.requests.clear()
    assert send(contract, {"text": "body is missing"}) == 422
    assert contract.requests == []


def test_an_answer_that_breaks_the_contract_is_no_success(contract: GitHub) -> None:
    contract.pulls[7] = Pull(7)
    assert send(contract, None) == 200
    complete = contract.complete
    contract.complete = lambda _, value: value
    contract.say(7, contract.tokens["actions"].user, "text")
    try:
        assert send(contract, None) == 500
    finally:
        contract.complete = complete
