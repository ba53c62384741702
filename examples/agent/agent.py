"""A small agent without a model: it works with four tools and prints what it did as ATIF.

It stands for your own agent. A rule chooses its next call; in yours, a model does.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

RENAME = re.compile(r"[Rr]ename `(\w+)` to `(\w+)`")
ASK = re.compile(r"[Ww]hat does `(\w+)` return")


def search(word):
    """Return the Python files that have a word."""
    found = [path for path in sorted(Path().rglob("*.py")) if _word(word).search(path.read_text())]
    return "\n".join(map(str, found)) or "no file"


def read(path):
    """Return the text of a file."""
    return Path(path).read_text()


def edit(path, old, new):
    """Replace a word in a file."""
    text, count = _word(old).subn(new, read(path))
    Path(path).write_text(text)
    return f"{count} places"


def test():
    """Run the examples in the docstrings of the folder."""
    argv = [sys.executable, "-B", "-m", "doctest", *map(str, Path().glob("*.py"))]
    if subprocess.run(argv, capture_output=True, check=False).returncode:
        raise RuntimeError("an example fails")
    return "all examples pass"


TOOLS = {"Search": search, "Read": read, "Edit": edit, "Test": test}


class Agent:
    """The calls so far."""

    def __init__(self):
        self.steps = []

    def call(self, tool, **arguments):
        """Call a tool and keep the step; an error is a result too."""
        name = f"call-{len(self.steps) + 1}"
        call = {"tool_call_id": name, "function_name": tool, "arguments": arguments}
        try:
            content = TOOLS[tool](**arguments)
        except (OSError, RuntimeError) as error:
            content, call["extra"] = "", {"error": str(error)}
        results = [{"source_call_id": name, "content": content}]
        self.step("", tool_calls=[call], observation={"results": results})
        return content

    def step(self, message, **more):
        """Add a step."""
        number = len(self.steps) + 1
        self.steps.append({"step_id": number, "source": "agent", "message": message, **more})

    def rename(self, old, new):
        """Rename a function wherever it is used, and run the examples."""
        files = self.call("Search", word=old).splitlines()
        for path in files:
            self.call("Edit", path=path, old=old, new=new)
        tested = self.call("Test") or "an example fails"
        return f"I renamed `{old}` to `{new}` in {', '.join(files)}; {tested}."

    def explain(self, name):
        """Quote what the function says of itself."""
        path = self.call("Search", word=f"def {name}").splitlines()[0]
        text = self.call("Read", path=path)
        return re.search(rf'def {name}\(.*?"""(.*?)\n', text, re.DOTALL)[1]

    def work(self, request):
        """Do what is asked, and return the answer."""
        if found := RENAME.search(request):
            return self.rename(*found.groups())
        if found := ASK.search(request):
            return self.explain(found[1])
        return "I can rename functions and say what they return."


def _word(word):
    return re.compile(rf"\b{re.escape(word)}\b")


def main():
    """Work on the request of the command line, and print the trace."""
    agent = Agent()
    agent.step(agent.work(sys.argv[1]))
    about = {"name": "example", "version": "1"}
    trace = {"schema_version": "ATIF-v1.7", "session_id": "1", "agent": about, "steps": agent.steps}
    print(json.dumps(trace))


if __name__ == "__main__":
    main()
