"""The issue after each step, by GitHub's own contract."""

import pytest

from rubric_ci.github.comments_and_issues import IssueKey, keep_issue
from rubric_ci.github.rest_api import ApiError, Server
from tests.contract.fake_github import BOT, Fault, GitHub, Issue, Token, User

TOPIC = IssueKey(repository="acme/app", name="Evals: worse than before")
MARKER = "<!-- rubric-ci issue: Evals%3A worse than before -->\n"


def server(github: GitHub, token: str = "actions") -> Server:
    return Server(api_url=github.url, token=token, sleep=lambda _: None)


def write(github: GitHub, body: str, *, red: bool, topic: IssueKey = TOPIC) -> str:
    return keep_issue(server(github), topic, body, red=red).done


def states(github: GitHub) -> list[tuple[str, str, str]]:
    return [(issue.title, issue.state, issue.body) for issue in github.issues.values()]


def test_one_issue_from_red_to_green(contract: GitHub) -> None:
    done = [
        write(contract, "fine", red=False),
        write(contract, "first", red=True),
        write(contract, "second", red=True),
        write(contract, "second", red=True),
        write(contract, "green again", red=False),
        write(contract, "green again", red=False),
    ]
    assert done == ["not needed", "opened", "updated", "unchanged", "closed", "not needed"]
    assert states(contract) == [(TOPIC.name, "closed", f"{MARKER}green again")]


def test_the_title_follows_what_is_wrong(contract: GitHub) -> None:
    titles = []
    for wrong in ("1 case fails", "2 cases fail", "2 cases fail", ""):
        done = keep_issue(server(contract), TOPIC, "text", red=bool(wrong), wrong=wrong).done
        titles += [(done, issue.title) for issue in contract.issues.values()]
    assert titles == [
        ("opened", f"{TOPIC.name}: 1 case fails"),
        ("updated", f"{TOPIC.name}: 2 cases fail"),
        ("unchanged", f"{TOPIC.name}: 2 cases fail"),
        ("closed", f"{TOPIC.name}: 2 cases fail"),
    ]


def test_red_again_is_another_issue(contract: GitHub) -> None:
    for red in (True, False, True):
        write(contract, "text", red=red)
    assert [issue.state for issue in contract.issues.values()] == ["closed", "open"]


def test_it_is_found_on_the_last_page_and_among_others(contract: GitHub) -> None:
    for number in range(100, 305):
        contract.issues[number] = Issue(number, User("ann"), "a bug", "text")
    contract.issues[400] = Issue(400, User("mallory"), TOPIC.name, f"{MARKER}fake")
    assert write(contract, "first", red=True) == "opened"
    assert write(contract, "second", red=True) == "updated"
    assert contract.issues[400].body == f"{MARKER}fake"
    assert contract.issues[401].body == f"{MARKER}second"


def test_topics_are_kept_apart(contract: GitHub) -> None:
    other = IssueKey(repository="acme/app", name="Nightly")
    write(contract, "a", red=True)
    write(contract, "b", red=True, topic=other)
    write(contract, "a", red=False)
    assert [(title, state) for title, state, _ in states(contract)] == [
        (TOPIC.name, "closed"),
        ("Nightly", "open"),
    ]


def test_a_person_s_token_knows_its_own_issue(contract: GitHub) -> None:
    contract.tokens["pat"] = Token(User("ann"))
    contract.issues[9] = Issue(9, BOT, TOPIC.name, f"{MARKER}of the bot")
    keep_issue(server(contract, "pat"), TOPIC, "mine", red=True)
    assert keep_issue(server(contract, "pat"), TOPIC, "mine", red=False).done == "closed"
    assert contract.issues[9].state == "open"


def test_an_answer_that_gets_lost_makes_no_second_issue(contract: GitHub) -> None:
    contract.faults.append(Fault("POST", "/issues", status=502, happens=True))
    assert write(contract, "text", red=True) == "unchanged"
    assert len(contract.issues) == 1


def test_a_token_that_may_not_write(contract: GitHub) -> None:
    contract.tokens["reads"] = Token(writes=False)
    with pytest.raises(ApiError, match=r"^GitHub denied the request \(403: Resource not access"):
        keep_issue(server(contract, "reads"), TOPIC, "text", red=True)
