"""Files to import and reports that grow: `import` and `report comment` take linear time.

The first place of each key of an example grows: its texts, its lists and its mappings.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, Final

import pytest

from rubric_ci.cli.commands.report_show_compare import comment
from rubric_ci.errors import UserError
from rubric_ci.values.command_settings import CommentSettings
from tests.contract.fake_github import GitHub, Pull, serving
from tests.invoke import invoke
from tests.parts.bring import trace_records as records
from tests.security.test_input_growth import FACTOR, growth, many, repeated

pytestmark = pytest.mark.deep

FORMATS: Final[dict[str, Callable[[], str]]] = {
    "otlp": records.otlp_with_attributes,
    "otlp events": records.otlp_with_events,
    "langfuse": records.langfuse_download,
    "langfuse rows": records.langfuse_rows,
    "langsmith": records.langsmith_runs,
    "phoenix": records.phoenix_spans,
    "braintrust": records.braintrust_rows,
}
MESSAGES: Final = [{"role": "user", "content": "Hi"}]
DOCUMENTS: Final[dict[str, dict[str, Any]]] = {
    "promptfooconfig.yaml": {
        "prompts": ["Say {{ word }}"],
        "providers": [{"id": "openai:gpt-6-luna", "config": {"temperature": 0}}],
        "defaultTest": {"vars": {"tone": "kind"}, "assert": [{"type": "contains", "value": "x"}]},
        "tests": [{"vars": {"word": "x"}, "assert": [{"type": "llm-rubric", "value": "kind"}]}],
    },
    "openai.jsonl": {"input": MESSAGES, "ideal": "x"},
    "golden.json": {
        "examples": [
            {"inputs": {"question": "a"}, "outputs": {"answer": "b"}, "metadata": {"c": "d"}}
        ]
    },
    "evals.json": {"evals": [{"prompt": "a", "files": ["a"], "expectations": ["c"]}]},
    "a.prompt.yml": {
        "messages": [{"role": "user", "content": "Say {{input}}"}],
        "model": "openai/gpt-6-luna",
        "testData": [{"input": "a", "expected": "b"}],
        "evaluators": [{"name": "a", "string": {"contains": "b"}}],
    },
}
Put = Callable[[Any], Any]
TEXTS: Final = ("{{ a }} ", "'a\n", "a/")


def places(value: Any, name: str = "", put: Put = lambda value: value) -> Iterator[Any]:
    """Yield the places of an example with their name, value and the document around a value."""
    yield name, value, put
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, f"{name}.{key}", partial(_with_key, put, value, key))
    elif isinstance(value, list) and value:
        rest = value[1:]
        yield from places(value[0], f"{name}[]", partial(_with_first, put, rest))


def _with_key(put: Put, around: dict[str, Any], key: str, value: Any) -> Any:
    return put({**around, key: value})


def _with_first(put: Put, rest: list[Any], value: Any) -> Any:
    return put([value, *rest])


def unlike(document: Any) -> Iterator[Any]:
    """Yield the first place of each key of an example."""
    seen = set[str]()
    for place, value, put in places(document):
        if (key := place.rpartition(".")[2]) not in seen:
            seen.add(key)
            yield place, value, put


def grown(value: Any) -> dict[str, Callable[[int], Any]]:
    match value:
        case str():
            return {text: partial(repeated, text) for text in TEXTS}
        case list():
            size = len(json.dumps(value[:1]))
            return {"items": lambda n: [*value, *(_numbered(value, k) for k in range(n // size))]}
        case dict():
            return {"keys": lambda n: {**value, **dict.fromkeys(many(n // 2, "k{}"), "x")}}
    return {}


def _numbered(items: list[Any], number: int) -> Any:
    """Return one more item; identities differ."""
    first = items[0] if items else "x"
    if not isinstance(first, dict):
        return f"{first}{number}"
    own = {key for key in first if key.lower().endswith("id") and isinstance(first[key], str)}
    return {key: f"{each}{number}" if key in own else each for key, each in first.items()}


def read(text: str) -> list[Any]:
    """Return the records of JSON Lines, or the one document of JSON."""
    try:
        return [json.loads(line) for line in text.splitlines()]
    except ValueError:
        return [json.loads(text)]


OF_A_CASE: Final = {"a": "A file of a case of evals.json"}


def seconds(folder: Path, files: Mapping[str, str], *options: str) -> float:
    """Return the processor time to import the first of these files into an empty folder."""
    for name, text in files.items():
        (folder / name).write_text(text)
    started = process_time()
    invoke(folder, {"PATH": os.environ["PATH"]}, "import", next(iter(files)), *options)
    spent = process_time() - started
    for path in folder.iterdir():
        path.unlink()
    return spent


@pytest.mark.parametrize("form", FORMATS)
def test_an_import(form: str, tmp_path: Path) -> None:
    documents = read(FORMATS[form]())
    name, options = "traces.jsonl", ("--from", form.split(maxsplit=1)[0])

    def measure(put: Put, value: Callable[[int], Any], size: int) -> float:
        found = put(value(size))
        text = "".join(json.dumps(each) + "\n" for each in found)
        return seconds(tmp_path, {name: text}, *options)

    slow = {}
    for place, value, put in unlike(documents):
        if place:  # the records themselves are a list of lines
            for kind, grows in grown(value).items():
                slow[f"{place}, {kind}"] = growth(partial(measure, put, grows))
        else:
            more = partial(_more, documents)
            slow["records"] = growth(partial(measure, lambda found: found, more))
    assert {name: factor for name, factor in slow.items() if factor > FACTOR} == {}


def fewer(kind: str, grows: Callable[[int], Any], size: int) -> Any:
    """Return a value that grew; each prompt, test and value of a variable is one more case."""
    return grows(size // 4 if kind == "items" else size)


def written(name: str, document: Any) -> str:
    return json.dumps(document) + "\n" * name.endswith(".jsonl")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_examples_are_imported(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(written(name, DOCUMENTS[name]))
    (tmp_path / "a").write_text(OF_A_CASE["a"])
    done = invoke(tmp_path, {"PATH": os.environ["PATH"]}, "import", name)
    assert ": 1 case\n" in done.stdout, done.stderr


@pytest.mark.parametrize("name", DOCUMENTS)
def test_an_import_of_a_document(name: str, tmp_path: Path) -> None:
    def measure(put: Put, value: Callable[[int], Any], size: int) -> float:
        found = put(value(size))
        return seconds(tmp_path, {name: written(name, found), **OF_A_CASE})

    slow = {
        f"{place}, {kind}": growth(partial(measure, put, partial(fewer, kind, grows)))
        for place, value, put in unlike(DOCUMENTS[name])
        for kind, grows in grown(value).items()
    }
    assert {place: factor for place, factor in slow.items() if factor > FACTOR} == {}


def _more(documents: list[Any], size: int) -> list[Any]:
    if len(documents) == 1 and not isinstance(documents[0], dict):
        return documents
    text = json.dumps(documents)
    copies = (text.replace(records.TRACE, f"{n:032x}") for n in range(size // len(text)))
    return [each for copy in copies for each in json.loads(copy)] or documents


EVENT: Final = {
    "pull_request": {
        "number": 7,
        "head": {"sha": "a" * 40, "repo": {"full_name": "acme/app"}},
        "base": {"sha": "b" * 40},
    }
}


def test_a_posted_report(tmp_path: Path) -> None:
    """Every place of a report grows; GitHub's API is a server here."""
    report = json.loads(Path("tests/golden/mixed.report.json").read_text(encoding="utf-8"))
    event, file = tmp_path / "event.json", tmp_path / "report.json"
    event.write_text(json.dumps(EVENT))
    with serving(GitHub(pulls={7: Pull(7, head_sha="a" * 40)})) as github:
        around = {
            "GITHUB_REPOSITORY": "acme/app",
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_API_URL": github.url,
            "GITHUB_TOKEN": "actions",
        }
        posted: set[str] = set()

        def measure(place: str, put: Put, value: Callable[[int], Any], size: int) -> float:
            file.write_text(json.dumps(put(value(size))))
            started = process_time()
            try:
                comment(CommentSettings(report=file), around)
                posted.add(place)
            except UserError:
                pass  # a report that contradicts itself
            return process_time() - started

        slow = {}
        for place, value, put in unlike(report):
            for name, grows in list(grown(value).items())[:1]:  # of texts the first kind
                slow[f"{place}, {name}"] = growth(partial(measure, place, put, grows))
    assert {name: factor for name, factor in slow.items() if factor > FACTOR} == {}
    assert len(posted) > 40
