"""Runs promptfoo's own Python for rubric-ci; written by `rubric-ci import`, needs nothing else.

Checks: as a code judge. Providers: with FILE[:NAME] and the prompt as arguments. All checks of a
test: `--all`, or `--mean THRESHOLD`, as the aggregator of a composite.
"""

import asyncio
import importlib.util
import inspect
import json
import re
import sys
import textwrap
from pathlib import Path
from typing import Any


def load(reference: str, default: str) -> Any:
    """Return a function of a file."""
    file, _, name = reference.removeprefix("file://").partition(".py")
    path = Path(f"{file}.py").resolve()
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name.removeprefix(":") or default)


def called(function: Any, *arguments: Any) -> Any:
    """Call a function, also a coroutine, with as many arguments as it takes."""
    taken = len(inspect.signature(function).parameters)
    result = function(*arguments[:taken])
    return asyncio.run(result) if inspect.iscoroutine(result) else result


def checked(value: str, output: str, context: dict[str, Any]) -> Any:
    """Return the result of a check: of a file, an expression, or the body of a function."""
    if value.startswith("file://"):
        return called(load(value, "get_assert"), output, context)
    body = value.strip()
    if "\n" not in body and not re.match(r"(?:return|import|from|raise)\b", body):
        body = f"return {body}"
    names: dict[str, Any] = {}
    source = f"def check(output, context):\n{textwrap.indent(textwrap.dedent(body), '    ')}\n"
    exec(source, names)  # noqa: S102 - the code of the user's own eval file
    return names["check"](output, context)


def judged(result: Any, threshold: float | None) -> tuple[bool, str, float]:
    """Return whether a result passes, why, and its score."""
    if isinstance(result, bool):
        return result, "", float(result)
    if isinstance(result, int | float):
        return result > 0 if threshold is None else result >= threshold, f"score {result}", result
    if not isinstance(result, dict):
        raise TypeError(f"returned {result!r}, neither a boolean, a number nor a mapping")
    passed = result.get("pass", result.get("pass_"))
    if not isinstance(passed, bool):
        raise TypeError(f"returned {result!r}, without `pass`")
    reached = threshold is None or result.get("score", 0) >= threshold
    return passed and reached, str(result.get("reason", "")), result.get("score", float(passed))


def grade(given: dict[str, Any]) -> dict[str, Any]:
    """Return 1 if all checks pass, else 0, and each of them; or the mean of their scores."""
    variables, assertions = given["config"]["vars"], list[dict[str, Any]]()
    scores = list[tuple[float, float, str]]()
    for check in given["config"]["checks"]:
        context = {"vars": variables, "prompt": given["question"], "config": check.get("config")}
        passed, evidence, score, weight = False, "", 0.0, check.get("weight", 1)
        try:
            result = checked(check["value"], given["output"], context)
            passed, evidence, score = judged(result, check.get("threshold"))
            if check.get("not"):
                passed, score = not passed, float(not passed)
        except Exception as error:  # noqa: BLE001 - a check that raises fails, as in promptfoo
            evidence = repr(error)
        scores.append((weight, score, ""))
        passed = passed or weight == 0
        assertions.append({"text": check["name"], "passed": passed, "evidence": evidence})
    all_pass = float(all(each["passed"] for each in assertions))
    mean = given["config"].get("mean", False)
    return {"score": weighted(scores) if mean else all_pass, "assertions": assertions}


def weighted(scores: list[tuple[float, float, str]]) -> float:
    """Return the weighted mean of scores."""
    total = sum(weight for weight, _, _ in scores)
    return sum(weight * score for weight, score, _ in scores) / (total or 1)


def aggregated(results: dict[str, Any], threshold: float | None) -> int:
    """Return 1 if the mean reaches the threshold, or without one if all members pass."""
    members = [(each["weight"], each["score"], each["verdict"]) for each in results.values()]
    if threshold is None:
        return int(all(verdict == "pass" for _, _, verdict in members))
    return int(weighted(members) + 1e-9 >= threshold)


def answer(reference: str, prompt: str) -> str:
    """Return the answer of a provider."""
    result = called(load(reference, "call_api"), prompt, {"config": {}}, {"vars": {}})
    if result.get("error"):
        raise SystemExit(result["error"])
    output = result["output"]
    return output if isinstance(output, str) else json.dumps(output)


if __name__ == "__main__":
    if sys.argv[1:2] in (["--all"], ["--mean"]):
        limit = float(sys.argv[2]) if sys.argv[2:] else None
        sys.stdout.write(json.dumps({"score": aggregated(json.load(sys.stdin)["results"], limit)}))
    elif sys.argv[1:]:
        sys.stdout.write(answer(*sys.argv[1:]))
    else:
        sys.stdout.write(json.dumps(grade(json.load(sys.stdin))))
