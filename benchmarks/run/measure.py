"""Measure whole processes on the same work against the same server: rubric-ci and other tools.

    python benchmarks/run/measure.py [--repeat N] [--latency SECONDS ...] [--only NAME ...]
    .venv/bin/python benchmarks/run/measure.py --history COMMIT [--cases N] | --growth

The first call installs the other tools into `benchmarks/run/.tools/`, at the versions pinned in
`peers/`. Figures are printed as a markdown table; README.md keeps the figures of one run.
"""

import argparse
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

HERE = Path(__file__).resolve().parent
TOOLS = HERE / ".tools"
PEERS = HERE / "peers"
NODE = TOOLS / "node_modules/node/bin/node"
DEEPEVAL = TOOLS / "deepeval/bin/python"
TIMEOUT = 400
SLOW = 30  # seconds; what takes longer is measured once
CRITERIA = (  # plain ones: a notice about each would be measured as well
    *("Names a sorting algorithm", "Gives its running time in the worst case"),
    *("Is written in English", "Ends with a short example"),
)


@dataclass(frozen=True)
class Work:
    """The work that every tool is given."""

    name: str
    cases: int
    in_flight: int
    asks_target: bool  # or answers are recorded


@dataclass(frozen=True)
class Tool:
    """How one tool is set up in an empty folder and started."""

    name: str
    prepare: Callable[[Path, Work, str], list[str]]
    work: str
    again: bool = False  # the same command a second time, in the folder of the first


RECORDED = Work("200 recorded answers x 4 criteria, 64 in flight", 200, 64, asks_target=False)
ASKED = Work("100 cases, a target and a judge call each, 50 in flight", 100, 50, asks_target=True)
WORKS = {"recorded": RECORDED, "asked": ASKED}


@dataclass(frozen=True)
class Figure:
    """One whole process, from start to exit."""

    seconds: float
    first_request: float | None  # seconds from the start to the first request: the start-up
    cpu_seconds: float
    megabytes: float  # peak of the largest process
    requests: int
    most_in_flight: int
    exit_code: int


def main() -> None:
    options = _options()
    if options.history or options.growth:
        _of_this_project(options)
        return
    install([tool.name for tool in _chosen(options.only)])
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} processors\n")
    for latency in options.latency:
        for name, work in WORKS.items():
            tools = [tool for tool in _chosen(options.only) if tool.work == name]
            if tools:
                print(f"### {work.name}, {latency * 1000:g} ms a reply\n", flush=True)
                _table(tools, work, latency, options.repeat)


def _of_this_project(options: argparse.Namespace) -> None:
    import history  # it uses this module

    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} processors\n", flush=True)
    if options.history:
        history.compare(options.history, options.cases, options.repeat)
    if options.growth:
        history.growth(1_000, 10_000, options.repeat)


def _table(tools: list[Tool], work: Work, latency: float, repeat: int) -> None:
    """Measure in rounds, every tool once in each: a busy minute of the machine meets them all."""
    figures: dict[str, list[Figure]] = {tool.name: [] for tool in tools}
    for _ in range(repeat):
        for tool in tools:
            so_far = figures[tool.name]
            if not so_far or so_far[0].seconds < SLOW:
                so_far.append(measure(tool, work, latency))
    print(
        "| tool | runs | seconds (median) | least-most | before the first request | CPU s "
        "| requests | in flight | MB |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name, measured in figures.items():
        print(_row(name, measured))
    replies = work.cases * (2 if work.asks_target else 1)
    print(f"\nBound: {_bound(work, latency):.2f} s for {replies} replies\n", flush=True)


def _row(name: str, figures: list[Figure]) -> str:
    times = sorted(figure.seconds for figure in figures)
    cpu = statistics.median(figure.cpu_seconds for figure in figures)
    starts = [figure.first_request for figure in figures if figure.first_request is not None]
    start = f"{statistics.median(starts):.2f}" if starts else "-"
    last = figures[-1]
    failed = f" (exit {last.exit_code})" if last.exit_code else ""
    return (
        f"| {name}{failed} | {len(times)} | {statistics.median(times):.2f} "
        f"| {times[0]:.2f}-{times[-1]:.2f} | {start} | {cpu:.2f} | {last.requests} "
        f"| {last.most_in_flight} | {max(figure.megabytes for figure in figures):.0f} |"
    )


def _bound(work: Work, latency: float) -> float:
    """Return the time of the replies alone when the window is always full."""
    rounds = -(-work.cases // work.in_flight)
    return rounds * latency * (2 if work.asks_target else 1)


def measure(tool: Tool, work: Work, latency: float) -> Figure:
    """Run a tool in a fresh folder against a fresh server."""
    folder = TOOLS / "work" / tool.name.replace(" ", "-").replace(",", "")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)  # a separate repository
    with serving(latency) as url:
        command = tool.prepare(folder, work, url)
        if tool.again:
            run(command, folder, url)
        before = stats(url)["requests"]
        started = time.time()
        seconds, cpu, megabytes, code = run(command, folder, url)
        after = stats(url)
    requests, most = int(after["requests"] - before), int(after["most_in_flight"])
    if not requests:
        return Figure(seconds, None, cpu, megabytes, 0, 0, code)
    return Figure(seconds, after["first"] - started, cpu, megabytes, requests, most, code)


def run(command: list[str], folder: Path, url: str) -> tuple[float, float, float, int]:
    """Return seconds, CPU seconds, peak MB and exit code of a process and its children."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "BENCH_URL": f"{url}/v1",
        "BENCH_KEY": "none",
        "BENCH_MODEL": "gpt-6-luna",
        "OPENAI_API_KEY": "none",
        "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
        "DEEPEVAL_DISABLE_TIMEOUTS": "1",  # a busy machine is no reason to give up
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
        "PROMPTFOO_SELF_HOSTED": "1",
        "NO_COLOR": "1",
    }
    with (folder / "output.txt").open("wb") as output:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=output
        )
        status, used = _wait(process)
        seconds = time.perf_counter() - start
    code = os.waitstatus_to_exitcode(status)
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, code


def _wait(process: subprocess.Popen[bytes]) -> tuple[int, Any]:
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return status, used
        time.sleep(0.005)
    process.kill()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return status, used


@contextmanager
def serving(latency: float) -> Iterator[str]:
    """Start the server in a separate process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(HERE / "server.py"), str(port), str(latency)])
    try:
        url = f"http://127.0.0.1:{port}"
        _until_up(url)
        yield url
    finally:
        process.terminate()
        process.wait(10)


def stats(url: str) -> dict[str, float]:
    with urllib.request.urlopen(f"{url}/stats", timeout=5) as reply:
        return dict(json.load(reply))


def _until_up(url: str) -> None:
    for _ in range(200):
        try:
            stats(url)
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise SystemExit("the server does not start")


def cases(work: Work) -> list[dict[str, str]]:
    return [
        {
            "id": f"case-{n}",
            "question": f"Explain what the number {n} has to do with sorting.",
            "answer": f"The number {n} is one of those that a sorting algorithm may meet. " * 8,
        }
        for n in range(1, work.cases + 1)
    ]


def criteria() -> list[str]:
    return list(CRITERIA)


# ---------------------------------------------------------------- ours


def through_litellm(folder: Path, work: Work, url: str) -> list[str]:
    """Ours as it asks all providers but OpenAI's: an option that only litellm knows forces it."""
    return ours(folder, work, url, {"drop_params": True})


def ours(
    folder: Path, work: Work, url: str, options: Mapping[str, object] = MappingProxyType({})
) -> list[str]:
    judge = {
        "model": "openai/gpt-6-luna",
        "api_base": f"{url}/v1",
        "api_key": "${{ OPENAI_API_KEY }}",
    }
    judge |= options
    answers = "".join(
        json.dumps({"id": c["id"], "answer": c["answer"]}) + "\n" for c in cases(work)
    )
    (folder / "answers.jsonl").write_text(answers, encoding="utf-8")
    target: dict[str, Any] = {"name": "default", "provider": "recorded", "answers": "answers.jsonl"}
    if work.asks_target:
        target = {"name": "default", **judge}
    rubrics = [{"id": f"criterion-{n}", "expected_outcome": t} for n, t in enumerate(criteria(), 1)]
    evals = [{"id": c["id"], "input": c["question"], "rubrics": rubrics} for c in cases(work)]
    _write(folder / "rubric-ci.yaml", {"judge": judge, "targets": [target]})
    _write(folder / "bench.eval.yaml", {"evalcases": evals})
    python = str(HERE.parents[1] / ".venv/bin/python")
    return [
        *(python, "-m", "rubric_ci", "run", "bench.eval.yaml"),
        *("--concurrency", str(work.in_flight)),
    ]


# ---------------------------------------------------------------- the others


def promptfoo(folder: Path, work: Work, url: str) -> list[str]:
    judge = {
        "id": "openai:chat:gpt-6-luna",
        "config": {"apiBaseUrl": f"{url}/v1", "apiKey": "none", "temperature": 0},
    }
    asserted = [{"type": "llm-rubric", "value": text, "provider": judge} for text in criteria()]
    tests = [{"vars": {"answer": c["answer"]}, "assert": asserted} for c in cases(work)]
    config = {"prompts": ["{{answer}}"], "providers": ["echo"], "tests": tests}
    _write(folder / "promptfooconfig.yaml", config)
    return [
        *(str(NODE), str(_bin("promptfoo")), "eval", "-c", "promptfooconfig.yaml"),
        *("--no-cache", "--no-table", "--no-progress-bar", "--no-write"),
        *("--max-concurrency", str(work.in_flight)),
    ]


def deepeval(folder: Path, work: Work, url: str) -> list[str]:
    _write(
        folder / "work.json",
        {
            "url": f"{url}/v1",
            "criteria": criteria(),
            "in_flight": work.in_flight,
            "cases": cases(work),
        },
    )
    return [str(DEEPEVAL), str(PEERS / "deepeval_run.py"), "work.json"]


def agentv(folder: Path, work: Work, _url: str) -> list[str]:
    model = {
        "provider": "openai",
        "base_url": "${{ BENCH_URL }}",
        "api_key": "${{ BENCH_KEY }}",
        "model": "${{ BENCH_MODEL }}",
    }
    targets = [{"name": "default", **model, "grader_target": "judge"}, {"name": "judge", **model}]
    listed = [
        {"id": f"criterion-{n}", "outcome": text, "required": True}
        for n, text in enumerate(criteria(), 1)
    ]
    rubric = {"name": "rubric", "type": "rubrics", "criteria": listed}
    tests = [
        {"id": c["id"], "criteria": "Answers", "input": c["question"], "assertions": [rubric]}
        for c in cases(work)
    ]
    (folder / ".agentv").mkdir()
    _write(folder / ".agentv/targets.yaml", {"targets": targets})
    suite = {"description": "bench", "execution": {"target": "default"}, "tests": tests}
    _write(folder / "bench.eval.yaml", suite)
    return [
        *(str(NODE), str(_bin("agentv")), "eval", "run", "bench.eval.yaml"),
        *("--no-cache", "--workers", str(work.in_flight)),
    ]


ALL = (
    Tool("rubric-ci", ours, "recorded"),
    Tool("rubric-ci, again", ours, "recorded", again=True),
    Tool("rubric-ci, litellm", through_litellm, "recorded"),
    Tool("promptfoo", promptfoo, "recorded"),
    Tool("deepeval", deepeval, "recorded"),
    Tool("rubric-ci, asking", ours, "asked"),
    Tool("rubric-ci, asking, litellm", through_litellm, "asked"),
    Tool("agentv", agentv, "asked"),
)


def install(names: list[str]) -> None:
    """Install what is missing, into a folder of the benchmark's own."""
    TOOLS.mkdir(exist_ok=True)
    if {"promptfoo", "agentv"} & set(names) and not (_bin("agentv").exists() and NODE.exists()):
        shutil.copy(PEERS / "package.json", TOOLS / "package.json")
        install_node = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(install_node, cwd=TOOLS, check=True)
    if "deepeval" in names and not DEEPEVAL.exists():
        subprocess.run([sys.executable, "-m", "venv", TOOLS / "deepeval"], check=True)
        pip = [DEEPEVAL, "-m", "pip", "install", "--quiet", "-r", PEERS / "requirements.txt"]
        subprocess.run(pip, check=True)


def _bin(package: str) -> Path:
    folder = TOOLS / "node_modules" / package
    if not folder.exists():
        return folder / "not-installed"
    declared = json.loads((folder / "package.json").read_text(encoding="utf-8"))["bin"]
    return folder / (declared if isinstance(declared, str) else declared[package])


def _write(path: Path, value: Any) -> None:
    """Write JSON, which is YAML as well."""
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")


def _chosen(only: list[str] | None) -> list[Tool]:
    return [tool for tool in ALL if not only or tool.name.split(",")[0] in only]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--latency", type=float, nargs="+", default=[0.05, 1.0])
    parser.add_argument(
        "--only", nargs="+", choices=["rubric-ci", "promptfoo", "deepeval", "agentv"]
    )
    parser.add_argument("--history", metavar="COMMIT", help="compare with another commit")
    parser.add_argument("--cases", type=int, default=2_000, help="of --history")
    parser.add_argument("--growth", action="store_true", help="compare 1,000 with 10,000 cases")
    return parser.parse_args()


if __name__ == "__main__":
    main()
