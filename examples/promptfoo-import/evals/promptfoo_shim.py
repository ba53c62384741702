"""Runs promptfoo's own Python for rubric-ci; written by `rubric-ci import`, needs nothing else.

Checks: as a code judge. Providers: with FILE[:NAME], the prompt and their transforms, after `--vars
FILE CASE` if they read variables and `--config JSON` if they have settings. A prompt is a word, or
`file:PATH`. Transforms for the other shim: `--transform SOURCE...`. All checks of a test: `--all`,
or `--mean THRESHOLD`, as the aggregator of a composite.
"""

import importlib.util
import itertools
import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any


def load(reference: str, default: str) -> Any:
    """Return a function of a file."""
    # They take longer than all else together; first, as the folder may hide what they import.
    import asyncio  # noqa: F401
    import inspect  # noqa: F401

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
    import asyncio
    import inspect

    taken = len(inspect.signature(function).parameters)
    result = function(*arguments[:taken])
    return asyncio.run(result) if inspect.iscoroutine(result) else result


def transformed(sources: list[str], output: Any, context: dict[str, Any]) -> Any:
    """Return an output after its transforms; those in JavaScript run in the other shim."""
    is_python = re.compile(r"file://.*\.py(?::\w+)?").fullmatch
    for python, group in itertools.groupby(sources, lambda source: bool(is_python(source))):
        if python:
            for source in group:
                output = called(load(source, "get_transform"), output, context)
                if output is None:
                    raise SystemExit(f"transform without a result: {source}")
        else:
            output = in_javascript([*group], output, context)
    return output


def in_javascript(sources: list[str], output: Any, context: dict[str, Any]) -> Any:
    """Return an output after transforms that follow each other, in one process."""
    shim = str(Path(__file__).with_name("promptfoo_shim.mjs"))
    given = json.dumps({"output": output, "context": context})
    command = ["node", shim, "--transform", *sources]
    done = subprocess.run(command, input=given, capture_output=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def checked(value: str, output: Any, context: dict[str, Any]) -> Any:
    """Return the result of a check: of a file, an expression, or the body of a function."""
    if value.startswith("file://"):
        return called(load(value, "get_assert"), output, context)
    body = value.strip()
    if "\n" not in value and not re.match(r"(?:return|import|from|raise)\b", body):
        body = f"return {body}"
    names: dict[str, Any] = {"json": json}
    source = f"def check(output, context):\n{textwrap.indent(textwrap.dedent(body), '    ')}\n"
    exec(source, names)  # noqa: S102 - the code of the user's own eval file
    return names["check"](output, context)


def judged(result: Any, threshold: float | None, inverted: bool) -> tuple[bool, str, float]:
    """Return whether a result passes, why, and its score."""
    if isinstance(result, str):
        known = {"true": True, "false": False}
        read = json.loads if result.startswith("{") else float
        result = known[result.lower()] if result.lower() in known else read(result)
    if isinstance(result, bool):
        return result != inverted, "", float(result != inverted)
    if isinstance(result, int | float):
        reached = result > 0 if threshold is None else result >= threshold
        return reached != inverted, f"score {result}", result
    if not isinstance(result, dict):
        raise TypeError(f"returned {result!r}, neither a boolean, a number nor a mapping")
    passed, score = result.get("pass", result.get("pass_")), result.get("score")
    if not isinstance(passed, bool) or not isinstance(score, int | float) or "reason" not in result:
        raise TypeError(f"returned {result!r}, without `pass`, `score` and `reason`")
    reached = threshold is None or score >= threshold
    return (passed and reached) != inverted, str(result["reason"]), score


def grade(given: dict[str, Any]) -> dict[str, Any]:
    """Return 1 if all checks pass, else 0, and each of them; or the mean of their scores."""
    variables, assertions = given["config"]["vars"], list[dict[str, Any]]()
    scores = list[tuple[float, float, str]]()
    question = given["question"]
    context = {"vars": variables, "prompt": {"raw": question, "label": question}}
    for check in given["config"]["checks"]:
        output = transformed(check.get("transform", []), written(given), context)
        passed, evidence, score, weight = False, "", 0.0, check.get("weight", 1)
        try:
            rest = {"prompt": question, "config": check.get("config")}
            result = checked(check["value"], output, {"vars": variables, **rest})
            passed, evidence, score = judged(result, check.get("threshold"), "not" in check)
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


def answer(variables: Any, config: Any, reference: str, prompt: str, *transforms: str) -> str:
    """Return the answer of a provider with its settings and the variables of the test."""
    prompt = variables.pop("__prompt", prompt)  # it stands for an empty one
    options = {"id": reference, "config": config}
    context = {"vars": variables, "prompt": {"raw": prompt, "label": prompt}}
    result = called(load(reference, "call_api"), prompt, options, context)
    if result.get("error"):
        raise SystemExit(result["error"])
    return as_answer(transformed([*map(argument, transforms)], result["output"], context))


def as_answer(output: Any) -> str:
    """Return an answer as rubric-ci reads it.

    In JSON, or with white space at its ends, it is the text of an object. One that is no text is
    also the content of a message, so that checks by code get it again.
    """
    if not isinstance(output, str):
        message = {"role": "assistant", "content": output}
        whole = {"text": as_json(output), "output_messages": [message]}
        return json.dumps(whole, ensure_ascii=False)
    try:
        json.loads(output)
    except (ValueError, RecursionError):
        if output == output.strip():
            return output
    return json.dumps({"text": output}, ensure_ascii=False)


def as_json(output: Any) -> str:
    """Return a value as JavaScript writes it in JSON."""
    return json.dumps(output, ensure_ascii=False, separators=(",", ":"))


def written(given: dict[str, Any]) -> Any:
    """Return the output of a provider if it is not a text, else the answer."""
    messages = given.get("messages") or [{}]
    content = messages[-1].get("content")
    known = content is not None and not isinstance(content, str)
    return content if known and as_json(content) == given["output"] else given["output"]


def argument(text: str) -> str:
    """Return a text of a command line, where `~22` is `"`, as no shell takes such signs alike."""
    return re.sub("~([0-9a-f]{2})", lambda code: chr(int(code[1], 16)), text)


def word(prompt: str) -> str:
    """Return a prompt that is a word, or in a file."""
    file = prompt.removeprefix("file:")
    if file == prompt or file.startswith("//"):
        return prompt
    with Path(file).open(encoding="utf-8", newline="") as text:
        return text.read()


def main(arguments: list[str]) -> str:
    """Return the output of the command."""
    variables = {}
    if arguments[:1] == ["--vars"]:
        _, file, case, *arguments = arguments
        variables = json.loads(Path(file).read_text("utf-8"))[case]
    match arguments:
        case ["--all" | "--mean", *limits]:
            limit = float(limits[0]) if limits else None
            return json.dumps({"score": aggregated(json.load(sys.stdin)["results"], limit)})
        case ["--transform", *sources]:
            given = json.load(sys.stdin)
            return json.dumps(transformed(sources, given["output"], given["context"]))
        case ["--echo", prompt]:
            return as_answer(word(prompt))
        case ["--config", config, reference, prompt, *transforms]:
            options = json.loads(argument(config))
            return answer(variables, options, argument(reference), word(prompt), *transforms)
        case [reference, prompt, *transforms]:
            return answer(variables, {}, argument(reference), word(prompt), *transforms)
        case _:
            return json.dumps(grade(json.load(sys.stdin)))


if __name__ == "__main__":
    printed, sys.stdout = sys.stdout, sys.stderr  # standard output has the result
    printed.write(main(sys.argv[1:]))
