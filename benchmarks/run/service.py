"""What a service that a run starts costs: the start, and each case, against curl on its server.

.venv/bin/python benchmarks/run/service.py
"""

import json
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

BOT = """\
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet, as frameworks send them

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        data = b'{"reply": "hello"}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
CASES = 200
ROUNDS = 5


def main() -> None:
    """Print the least of all rounds, which other work on the machine moves least."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "bot.py").write_text(BOT)
        port = free_port()
        bot = subprocess.Popen([sys.executable, "bot.py", str(port)], cwd=root)
        try:
            wait_for(port)
            least = {}
            for _ in range(ROUNDS):
                for name, seconds in one_round(root, port).items():
                    least[name] = min(seconds, least.get(name, seconds))
        finally:
            bot.kill()
    started = least["started"] - least["deployed"]
    case = (least["many"] - least["deployed"]) / CASES
    print(f"the bot alone, from its start to its port: {least['alone'] * 1000:.0f} ms")
    print(f"a run that starts it, beyond one that does not: {started * 1000:.0f} ms")
    own = least["started, processor"] - least["deployed, processor"]
    print(f"  of it processor time, with the bot's: {own * 1000:.0f} ms")
    print(f"a case: {case * 1000:.1f} ms")
    print(f"a request of curl: {least['curl'] * 1000:.1f} ms")


def one_round(root: Path, port: int) -> dict[str, float]:
    """Return the seconds of each measurement."""
    deployed = {"url": f"http://127.0.0.1:{port}/"}
    start = {"start": f"{sys.executable} bot.py {{PORT}}", "url": "http://127.0.0.1:{PORT}/"}
    (one, one_cpu), (started, started_cpu) = run(root, deployed, 1), run(root, start, 1)
    return {
        "deployed": one,
        "deployed, processor": one_cpu,
        "started": started,
        "started, processor": started_cpu,
        "many": run(root, deployed, 1 + CASES)[0],
        "alone": own_start(root),
        "curl": curl(port),
    }


def run(root: Path, target: dict[str, str], cases: int) -> tuple[float, float]:
    """Return the seconds of a whole run, one case at a time, and its processor time."""
    service = {"name": "default", "provider": "http", "body": {"q": "{{ message }}"}, **target}
    config = {"evals": ["a.eval.yaml"], "targets": [{**service, "answer": "reply"}]}
    listed = [{"id": f"c{n}", "input": f"Say {n}"} for n in range(cases)]
    (root / "rubric-ci.yaml").write_text(json.dumps(config))
    suite = {"rubrics": [{"contains": "hello"}], "evalcases": listed}
    (root / "a.eval.yaml").write_text(json.dumps(suite))
    words = (sys.executable, "-m", "rubric_ci", "run", "--reuse", "nothing", "--quiet")
    began, before = time.perf_counter(), processor_time()
    subprocess.run([*words, "--concurrency", "1"], cwd=root, check=True, capture_output=True)
    return time.perf_counter() - began, processor_time() - before


def processor_time() -> float:
    """Return the processor time of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def own_start(root: Path) -> float:
    """Return the seconds from the start of the bot to its first connection."""
    port, began = free_port(), time.perf_counter()
    bot = subprocess.Popen([sys.executable, "bot.py", str(port)], cwd=root)
    wait_for(port)
    bot.kill()
    return time.perf_counter() - began


def curl(port: int) -> float:
    """Return the median of curl's own time for a request."""
    words = ("curl", "-s", "-o", "/dev/null", "-w", "%{time_total}", "-d", '{"q": "Say"}')
    url = f"http://127.0.0.1:{port}/"
    times = [subprocess.check_output([*words, url]) for _ in range(20)]
    return statistics.median(map(float, times))


def wait_for(port: int) -> None:
    """Return when a port accepts a connection."""
    while True:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.1):
            return
        time.sleep(0.002)


def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


if __name__ == "__main__":
    main()
