"""JUnit's XML, which most test runners write: `failure` is a fail, `error` no verdict."""

from collections.abc import Iterator, Mapping
from typing import Final
from xml.etree import ElementTree as ET

from rubric_ci.files.parsing.typed_json import Mismatch
from rubric_ci.parts.bring.adoption.samples import Check, Sample

_SUITES: Final = ("testsuites", "testsuite")
_COUNTS: Final = {"tests": "testcase", "failures": "failure", "errors": "error"}
# Words of `status` and `result`, which some runners write in place of an element.
_PASSED: Final = frozenset(
    ["run", "pass", "passed", "success", "successful", "succeeded", "ok", "completed", "done"]
)
_FAILED: Final = frozenset(["fail", "failed", "failure"])
_SKIPPED: Final = frozenset(["skip", "skipped", "ignored", "disabled", "suppressed"])


def read(text: str) -> Iterator[Sample]:
    """Yield the test cases. A document type is refused: it could define entities."""
    yield from _cases(_root(text), {})


def missing(text: str) -> str:
    """Return why a file has a part of its tests, or an error of none; empty: it is whole."""
    for suite in _root(text).iter():
        if suite.tag not in _SUITES:
            continue
        name = suite.get("name", "") or suite.tag
        for outside in (each for each in suite if each.tag in {"error", "failure"}):
            return f"{name}: {outside.tag} outside of a test: {_said(outside) or 'no reason given'}"
        for attribute, tag in _COUNTS.items():
            said, here = _number(suite.get(attribute, "")), len(list(suite.iter(tag)))
            here += _in_words(suite) if tag == "failure" else 0
            if said is not None and said > here:
                return f'{name}: `{attribute}="{said:g}"`, and {here:,} in the file'
    return ""


def _root(text: str) -> ET.Element:
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise Mismatch("has a document type, which results have no use for")
    try:
        root = ET.fromstring(text)  # noqa: S314 - no document type, so no entities
    except ET.ParseError as error:
        raise Mismatch(f"not XML ({error})") from error
    if root.tag not in _SUITES:
        raise Mismatch(f"`{root.tag}` is not `testsuites` or `testsuite`")
    return root


def _cases(element: ET.Element, around: Mapping[str, str]) -> Iterator[Sample]:
    """Yield the tests of a suite; those of suites with other names or files are other tests."""
    here = {
        "file": element.get("file") or around.get("file", ""),
        "name": element.get("name") or around.get("name", ""),
        "names": f"{around.get('names', '')}/{element.get('name', '')}",
    }
    for child in element:
        if child.tag == "testcase":
            yield _sample(child, here)
        elif child.tag in _SUITES:
            yield from _cases(child, here)


def _sample(case: ET.Element, around: Mapping[str, str]) -> Sample:
    failure, error, skipped = (case.find(tag) for tag in ("failure", "error", "skipped"))
    word = _word(case)
    told = "" if failure is None else _said(failure)
    passed = failure is None and word not in _FAILED
    unknown = passed and word not in {"", *_PASSED, *_SKIPPED}
    lost = f"its status is `{word}`" if unknown else ""
    left = word if word in _SKIPPED and passed else ""
    classname = case.get("classname", "")
    return Sample(
        id=case.get("name", ""),
        suite=case.get("file") or classname or around["file"] or around["name"],
        checks=(Check(name="test", passed=passed, reason=told),),
        error=lost if error is None else _said(error) or "error",
        skipped=left if skipped is None else _said(skipped) or "skipped",
        answer=(case.findtext("system-out") or "").strip(),
        seconds=_number(case.get("time", "")),
        part="\n".join((around["names"], around["file"], classname)),
    )


def _word(case: ET.Element) -> str:
    """Return the word on how a test ended that is no pass, else one that is."""
    words = [case.get(key, "").strip().lower() for key in ("status", "result")]
    given = [word for word in words if word]
    ranked = [word for word in given if word in _SKIPPED] + [
        word for word in given if word not in _PASSED
    ]
    return (ranked or given or [""])[0]


def _in_words(suite: ET.Element) -> int:
    every = (case for case in suite.iter("testcase") if case.find("failure") is None)
    return sum(_word(case) in _FAILED for case in every)


def _said(element: ET.Element) -> str:
    return element.get("message") or (element.text or "").strip()


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
