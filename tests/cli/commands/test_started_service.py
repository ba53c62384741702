"""Services that a run starts: a process for each side, bad input, and nothing left of them."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests import platforms
from tests.checkout import Checkout
from tests.forked_command import started
from tests.http_server import JsonHandler, serving
from tests.invoke import invoke
from tests.sample_project import clean_environment
from tests.wait import wait_until

pytestmark = platforms.LINUX

BOT = '''\
"""Replies with what it was sent; how it fails is its second argument."""
import json, os, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

port, mode = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
SAY = "We never refund worn parts."

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        print("asked", os.environ.get("SERVICE_TOKEN", "no token"), flush=True)
        if mode == "dies" or (mode == "dies once" and not os.path.exists("died")):
            open("died", "w").close()
            print("Traceback: out of cheese", flush=True)
            os._exit(7)
        said = {"reply": SAY, "side": os.environ["SIDE"], "asked": body}
        data = json.dumps(said).encode()
        if mode == "large":
            data = b"x" * 50_000_000
        if mode == "drip":
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            for _ in range(100):
                self.wfile.write(b"x")
                self.wfile.flush()
                time.sleep(0.2)
        status = 302 if mode == "moved" else 200
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        if mode == "moved":
            self.send_header("Location", "http://127.0.0.1:9/")
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.send_response(503 if mode == "never ready" else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass

if mode == "ends":
    sys.exit("no module named cheese")
if mode == "sleeps":
    print("sleeping", flush=True)
    time.sleep(60)
if mode == "forks":
    if os.fork():
        os._exit(0)
    os.setsid()
    time.sleep(0.5)
ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
'''
EVALS = """\
evalcases:
  - {id: worn, input: Refund for a worn tyre?, rubrics: [{contains: never refund}]}
"""
CONFIG = """\
evals: ["*.eval.yaml"]
env: {{allow: [SERVICE_*]}}
targets:
  - name: default
    provider: http
    start: python3 bot.py {{PORT}} {mode}
    ready: /health
    ready_seconds: 5
    url: http://127.0.0.1:{{PORT}}/chat
    body: {{q: "{{{{ message }}}}"}}
    answer: reply
    timeout_seconds: 5
{more}"""


class Bot:
    """A repository with a bot, and the command run in it."""

    def __init__(self, checkout: Checkout, place: Path) -> None:
        self.checkout, self.root, self.place = checkout, checkout.root, place
        place.mkdir()
        checkout.write({"bot.py": BOT, "a.eval.yaml": EVALS, ".gitignore": ".rubric-ci\n.deps\n"})
        self.configure()
        checkout.commit({})

    def configure(self, mode: str = "''", more: str = "", **replaced: str) -> None:
        text = CONFIG.format(mode=mode, more=more)
        for old, new in replaced.items():
            text = re.sub(
                rf"^    {old}: .*\n", new and f"    {old}: {new}\n", text, flags=re.MULTILINE
            )
        self.checkout.write({"rubric-ci.yaml": text})

    @property
    def environment(self) -> dict[str, str]:
        return {**clean_environment(), "TMPDIR": str(self.place), "GITHUB_ACTIONS": ""}

    def run(self, *arguments: str, **environment: str) -> Any:
        return invoke(self.root, self.environment | environment, "run", *arguments)

    @property
    def case(self) -> dict[str, Any]:
        (case,) = json.loads((self.root / ".rubric-ci/report.json").read_text())["cases"]
        found: dict[str, Any] = case
        return found

    def log(self, side: str = "head") -> str:
        return (self.root / f".rubric-ci/services/default-{side}.log").read_text()

    @property
    def processes(self) -> list[str]:
        """The processes but git's with the folder of this test in their environment."""
        found = []
        for each in Path("/proc").iterdir():
            if each.name.isdigit() and int(each.name) != os.getpid():
                try:
                    if str(self.place).encode() in (each / "environ").read_bytes():
                        found.append((each / "cmdline").read_bytes().replace(b"\0", b" ").decode())
                except OSError:
                    pass
        return [line for line in found if not line.startswith("git ")]


@pytest.fixture
def bot(checkout: Checkout, tmp_path: Path) -> Iterator[Bot]:
    """A bot of which every test leaves no process."""
    made = Bot(checkout, tmp_path / "tmp")
    yield made
    assert made.processes == []


def test_both_sides_have_their_own_process(bot: Bot) -> None:
    bot.checkout.write({"bot.py": BOT.replace("We never refund", "Sure, we refund")})
    ran = bot.run("--changed-since", "HEAD", "--against", "HEAD")
    case = bot.case
    assert case["answer"] == "Sure, we refund worn parts.", ran.stderr
    assert case["before"]["answer"] == "We never refund worn parts."
    assert bot.log("head").startswith("asked no token\n")
    assert bot.log("base").startswith("asked no token\n")


def test_setup_is_run_for_each_side_in_its_folder(bot: Bot) -> None:
    (bot.root / "kept.txt").write_text("", encoding="utf-8")
    setup = '"mkdir -p .deps && pwd > .deps/$SIDE && ls > .deps/files"'
    shown = "cat .deps/* && exec python3 bot.py {PORT}"
    bot.configure(start=f'"{shown}"', more=f"    setup: {setup}\n")
    bot.checkout.commit({})
    bot.checkout.write({"bot.py": BOT.replace("worn parts", "used parts")})
    bot.run("--against", "HEAD")
    head, base = bot.log("head"), bot.log("base")
    assert str(bot.root) in head
    assert "rubric-ci-base-" in base
    assert "kept.txt" in head


def test_environment_side_and_ports(bot: Bot) -> None:
    echo = "echo $PORT_DB {PORT_DB} $PORT_CACHE ${PORT_QUEUE} $SIDE {SIDE} {PORT}"
    bot.configure(start=f'"{echo}; exec python3 bot.py $PORT"', more="    env: [SERVICE_TOKEN]\n")
    assert bot.run(SERVICE_TOKEN="the-service-token-1234").returncode == 0
    first, asked = bot.log().splitlines()
    of_database, again, cache, queue, *sides, port = first.split()
    assert of_database == again
    assert len({of_database, cache, queue, port}) == 4
    assert sides == ["head", "head"]
    assert asked == "asked ***"  # masked


def test_a_variable_that_is_missing_skips_the_cases(bot: Bot) -> None:
    bot.configure(more="    env: [SERVICE_TOKEN]\n")
    bot.run()
    said = "was not started: the environment variable `SERVICE_TOKEN`, named in `env`, is not set"
    assert bot.case["outcome"] == "skipped"
    assert said in bot.case["reason"]


@pytest.mark.parametrize("edit", ["start", "setup"])
def test_another_start_is_another_answer(bot: Bot, edit: str) -> None:
    """Also where `depends_on` names no file that changed."""
    bot.configure(more="    depends_on: [bot.py]\n")
    bot.checkout.commit({})
    if edit == "start":
        sed = "sed s/never/always/ bot.py > other.py; exec python3 other.py {PORT}"
        bot.configure(start=f'"{sed}"', more="    depends_on: [bot.py]\n")
    else:
        sed = "sed -i s/never/always/ bot.py"
        bot.configure(more=f'    depends_on: [bot.py]\n    setup: "{sed}"\n')
    assert bot.run("--against", "HEAD").returncode == 1
    assert (bot.case["change"], bot.case["before"]["source"]) == ("broken", "asked")
    bot.checkout.git("checkout", "--quiet", "bot.py")


def test_cases_that_come_at_once_start_one_process(bot: Bot) -> None:
    bot.configure(start='"echo up; exec python3 bot.py {PORT}"')
    row = EVALS.splitlines()[1]
    rows = [row.replace("worn,", f"worn-{n},") for n in range(6)]
    bot.checkout.write({"a.eval.yaml": "\n".join(["evalcases:", *rows, ""])})
    assert bot.run("--concurrency", "6").returncode == 0
    assert (bot.log().count("up"), bot.log().count("asked")) == (1, 6)


def test_a_port_that_is_taken(bot: Bot) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        bot.configure(start=f"python3 bot.py {listener.getsockname()[1]}")
        assert bot.run().returncode == 3
    assert "ended with exit status 1 before it was ready; its last lines:" in bot.case["reason"]
    assert "Address already in use" in bot.case["reason"]


NO_PORT = """\
import os, socket, subprocess, sys
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
with open("/proc/sys/net/ipv4/ip_local_port_range", "w") as file:
    file.write("40000 40001")
held = [socket.create_server(("127.0.0.1", port)) for port in (40000, 40001)]
sys.exit(subprocess.run([sys.executable, "-m", "rubric_ci", "run"]).returncode)
"""


def test_no_free_port(bot: Bot) -> None:
    """In a network of its own, whose two ports are taken."""
    alone = ("unshare", "--map-root-user", "--net")
    if subprocess.run([*alone, "ip", "link"], check=False, capture_output=True).returncode:
        pytest.skip("no network of its own can be made here (unshare, ip)")
    words = [*alone, sys.executable, "-c", NO_PORT]
    ran = subprocess.run(words, cwd=bot.root, env=bot.environment, timeout=60, check=False)
    assert ran.returncode == 3
    assert bot.case["reason"] == (
        "there is no free port on 127.0.0.1: [Errno 98] Address already in use"
    )


def test_stop_always_runs(bot: Bot) -> None:
    stop = '"echo stopped {SIDE} {PORT} >> stopped.txt"'
    bot.configure(more=f"    stop: {stop}\n")
    assert bot.run().returncode == 0
    bot.configure(mode="ends", more=f"    stop: {stop}\n")
    assert bot.run().returncode == 3
    lines = (bot.root / "stopped.txt").read_text().splitlines()
    assert [line.split()[:2] for line in lines] == [["stopped", "head"]] * 2


BAD = {
    "ends": ({"mode": "ends"}, r"ended with exit status 1 before it was ready; its last lines:\n"),
    "sleeps": ({"mode": "sleeps"}, r"was not ready within 5 s: nothing accepts .* on port \d+; "),
    "never ready": (
        {"mode": "'never ready'"},
        r"was not ready within 5 s: http://127.0.0.1:\d+/health responds with 503",
    ),
    "forks": ({"mode": "forks"}, r"ended with exit status 0 before it was ready; `start` must"),
    "another port": (
        {"start": "python3 bot.py 0"},
        r"nothing accepts a connection on port \d+; does it listen on \{PORT\}\?",
    ),
    "no program": ({"start": "[no-such-program]"}, r"no-such-program cannot be started"),
    "setup fails": (
        {"more": "    setup: echo no cheese >&2; exit 3\n"},
        r"`setup` ended with exit status 3; its last lines:\nno cheese",
    ),
    "setup hangs": (
        {"more": "    setup: sleep 60\n    setup_seconds: 0.5\n"},
        r"`setup` did not end within 0.5 s \(`setup_seconds`\) and was killed",
    ),
    "no folder": ({"more": "    cwd: nowhere\n"}, r"nowhere"),
    "path": ({"answer": "/text"}, r"no `/text`, only reply, side, asked; check `answer` of the"),
    "large": ({"mode": "large"}, r"8 MiB"),
    "drip": ({"mode": "drip", "timeout_seconds": "1"}, r"no reply within 1 s"),
    "redirect": ({"mode": "moved"}, r"HTTP 302"),
    "dies": ({"mode": "dies"}, r"ended with exit status 7; its last lines:\n.*\n?.*out of cheese"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_errored_and_leaves_nothing(bot: Bot, name: str) -> None:
    facts, reason = BAD[name]
    bot.configure(**facts)
    ran = bot.run("--max-calls", "2")
    assert ran.returncode == 3, ran.stdout
    assert re.search(reason, bot.case["reason"], re.DOTALL), bot.case["reason"]
    wait_until(lambda: bot.processes == [], seconds=5)


def test_a_service_that_ends_is_started_once_more(bot: Bot) -> None:
    bot.configure(mode="'dies once'")
    cases = EVALS + EVALS.splitlines()[1].replace("worn,", "again,") + "\n"
    bot.checkout.write({"a.eval.yaml": cases})
    assert bot.run("--concurrency", "1").returncode == 3
    report = json.loads((bot.root / ".rubric-ci/report.json").read_text())
    assert [case["outcome"] for case in report["cases"]] == ["errored", "graded"]
    assert "out of cheese" in report["cases"][0]["reason"]


def test_a_change_that_keeps_the_service_from_starting_fails_the_gate(bot: Bot) -> None:
    bot.checkout.write({"bot.py": "import cheese\n"})
    ran = bot.run("--changed-since", "HEAD", "--against", "HEAD")
    assert ran.returncode == 1, ran.stdout
    said = "Gate fails: the service of worn gets ready at the base, and not here"
    assert said in " ".join(ran.stdout.split())
    assert "No module named 'cheese'" in bot.case["reason"]
    assert (bot.case["outcome"], bot.case["change"]) == ("errored", "broken")


def test_a_base_that_does_not_start_is_not_comparable(bot: Bot) -> None:
    bot.checkout.commit({"bot.py": "import cheese\n"})
    bot.checkout.write({"bot.py": BOT})
    assert bot.run("--changed-since", "HEAD", "--against", "HEAD").returncode == 0
    assert bot.case["change"] == "not-comparable"
    assert bot.case["change_reason"].startswith("no verdict at the base: the service `default` (")
    bot.checkout.write({"bot.py": "import cheese, more\n"})
    assert bot.run("--changed-since", "HEAD", "--against", "HEAD").returncode == 3


@platforms.SIGNALS
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_nothing_is_left_after_a_signal(bot: Bot, name: str) -> None:
    bot.configure(mode="drip", more='    stop: "touch stopped"\n', timeout_seconds="60")
    process = started(bot.root, bot.environment, "run")
    wait_until((bot.root / ".rubric-ci/services/default-head.log").exists)
    wait_until(lambda: "asked" in bot.log())
    assert any("bot.py" in line for line in bot.processes)
    os.kill(process.pid, getattr(signal, name))
    process.communicate(timeout=60)
    wait_until(lambda: bot.processes == [], seconds=10)
    assert (bot.root / "stopped").exists()


@platforms.SIGNALS
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_nothing_is_left_of_a_setup_after_a_signal(bot: Bot, name: str) -> None:
    bot.configure(more="    setup: touch begun; sleep 60; touch ended\n")
    process = started(bot.root, bot.environment, "run")
    wait_until((bot.root / "begun").exists)
    if name == "SIGKILL":
        wait_until(lambda: any("read -r" in line for line in bot.processes))  # what then ends it
    os.kill(process.pid, getattr(signal, name))
    process.communicate(timeout=60)
    wait_until(lambda: bot.processes == [], seconds=10)
    assert not (bot.root / "ended").exists()


def test_a_full_disk_ends_no_service(bot: Bot) -> None:
    (bot.root / ".rubric-ci").mkdir()
    (bot.root / ".rubric-ci/services").write_text("", encoding="utf-8")
    ran = bot.run()
    assert ran.returncode == 0, ran.stderr
    assert "The output of the service `default` is not kept" in ran.stdout


def test_a_proxy_of_the_environment_is_not_asked(bot: Bot) -> None:
    proxies = {"HTTP_PROXY": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9"}
    assert bot.run(**proxies).returncode == 0, bot.case


def test_offline_and_replay_start_nothing(bot: Bot) -> None:
    assert bot.run("--record", "kept.jsonl").returncode == 0
    first = bot.case["answer"]
    bot.configure(mode="ends")
    assert bot.run("--replay", "kept.jsonl").returncode == 0
    assert bot.case["answer"] == first
    bot.run("--offline")
    assert "offline" in bot.case["reason"]


DEPLOYED = """\
evals: ["*.eval.yaml"]
targets:
  - name: default
    provider: http
    url: "{url}"
    body: {{q: "{{{{ message }}}}"}}
    answer: reply
{more}gate: {{fail_on: regression}}
"""


class Deployed:
    """A server that says what it is told to say."""

    def __init__(self) -> None:
        self.says, self.url, self.asked = "We never refund worn parts.", "", 0


@contextmanager
def deploying() -> Iterator[Deployed]:
    state = Deployed()

    class Handler(JsonHandler):
        def do_POST(self) -> None:
            state.asked += 1
            self.received()
            self.send_json(200, {"reply": state.says})

    with serving(Handler) as server:
        state.url = server.url
        yield state


@pytest.fixture
def deployed() -> Iterator[Deployed]:
    with deploying() as state:
        yield state


def of_deployed(bot: Bot, deployed: Deployed, more: str = "") -> None:
    bot.checkout.commit({"rubric-ci.yaml": DEPLOYED.format(url=deployed.url, more=more)})


AGAINST = ("--changed-since", "HEAD", "--against", "HEAD")


@pytest.mark.parametrize("more", ["", "    depends_on: [bot.py]\n"])
def test_a_deployed_server_never_is_the_base(bot: Bot, deployed: Deployed, more: str) -> None:
    of_deployed(bot, deployed, more)
    assert bot.run().returncode == 0  # the default branch keeps the answer
    bot.checkout.write({"bot.py": "# broken\n"})
    deployed.says, deployed.asked = "Sure, here is your money.", 0
    assert bot.run(*AGAINST).returncode == 1
    assert (bot.case["change"], bot.case["before"]["source"]) == ("broken", "reused")
    assert bot.case["before"]["answer"] == "We never refund worn parts."
    assert deployed.asked == 10  # all of them the head's
    assert bot.run(*AGAINST).returncode == 1  # the head's answers are not kept as the base's


def test_a_server_that_changes_without_a_file_is_compared(bot: Bot, deployed: Deployed) -> None:
    of_deployed(bot, deployed, "    depends_on: [bot.py]\n")
    assert bot.run().returncode == 0
    deployed.says = "Sure, here is your money."
    bot.checkout.write({"a.eval.yaml": EVALS.replace("worn,", "worn, note: changed,")})
    for _ in range(2):
        assert (bot.run("--against", "HEAD").returncode, bot.case["change"]) == (1, "broken")


def test_without_kept_answers_nothing_is_compared(bot: Bot, deployed: Deployed) -> None:
    of_deployed(bot, deployed)
    deployed.says = "Sure, here is your money."
    assert bot.run(*AGAINST).returncode == 1
    assert (bot.case["change"], bot.case["before"]) == ("not-comparable", None)
    assert bot.case["change_reason"].startswith("the deployed service answers for both sides")


def test_both_are_asked_where_the_base_is_deployed_too(bot: Bot, deployed: Deployed) -> None:
    with deploying() as before:
        of_deployed(bot, deployed, f"    url_before: {before.url}\n")
        deployed.says = "Sure, here is your money."
        assert bot.run(*AGAINST).returncode == 1
    assert (bot.case["change"], bot.case["before"]["source"]) == ("broken", "asked")
    assert (deployed.asked, before.asked) == (5, 5)


def test_host_headers_and_variables_are_those_of_the_policy(bot: Bot, tmp_path: Path) -> None:
    bot.configure(more="    headers: {X-Team: base}\n")
    policy = tmp_path / "base.yaml"
    policy.write_text((bot.root / "rubric-ci.yaml").read_text(), encoding="utf-8")
    stolen = "    headers: {X-Key: '${{ SERVICE_TOKEN }}'}\n    env: [SERVICE_TOKEN]\n"
    bot.configure(more=stolen, body='{q: "changed {{ message }}"}', answer="asked")
    token = {"SERVICE_TOKEN": "the-service-token-1234"}
    ran = bot.run("--policy-from", str(policy), **token)
    assert json.loads(bot.case["answer"]) == {"q": "changed Refund for a worn tyre?"}, ran.stderr
    assert "asked no token" in bot.log()  # `start`, `body` and `answer` are the change's
    policy.write_text("judge: openai/gpt-6-luna\n", encoding="utf-8")
    ran = bot.run("--policy-from", str(policy), **token)
    assert ran.returncode == 2
    held = "target `default` sets `headers`, `env`, which count after the merge"
    assert held in ran.stderr
    bot.configure()
    assert bot.run("--policy-from", str(policy), **token).returncode == 0  # a new one is asked


def test_a_server_that_a_change_deploys_elsewhere_is_not_asked(
    bot: Bot, deployed: Deployed, tmp_path: Path
) -> None:
    policy = tmp_path / "base.yaml"
    policy.write_text((bot.root / "rubric-ci.yaml").read_text(), encoding="utf-8")
    of_deployed(bot, deployed)
    ran = bot.run("--policy-from", str(policy))
    assert (ran.returncode, deployed.asked) == (2, 0)
    assert "target `default` sets `api_base`, which count after the merge" in ran.stderr
