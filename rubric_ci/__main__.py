"""The process that `rubric-ci` and `python -m rubric_ci` start."""

import _signal  # type: ignore[import-not-found]  # `signal` would import `enum` first
import gc
import os
import sys

GC_THRESHOLD = 1_000_000
"""New objects between two collections; imports and results leave hardly any cycles behind."""
INTERRUPTED = 3  # the exit code of a run without a verdict; `errors` is not imported yet
MESSAGE = "rubric-ci: interrupted\n"


def main() -> None:
    """Run the command line with fewer garbage collections and none at exit, to start faster."""
    try:
        for name in ("SIGTERM", "SIGHUP"):  # as Ctrl-C, also before an event loop takes them
            number = getattr(_signal, name, None)
            if number is not None and _signal.getsignal(number) == _signal.SIG_DFL:
                _signal.signal(number, _interrupt)
        gc.set_threshold(GC_THRESHOLD)
        from rubric_ci.cli.main import main as command_line
        from rubric_ci.system.output_and_masking import open_streams

        open_streams()
        command_line()
    except KeyboardInterrupt:
        sys.stderr.write(MESSAGE)
        sys.exit(INTERRUPTED)
    finally:
        # Where an interrupt passed an `exec` of a text, as of a dataclass, `python -m` would end
        # by SIGINT in place of its exit code; the next one that ends well takes that back.
        exec("")  # noqa: S102 - an empty text
        gc.freeze()


def _interrupt(_: int, frame: object) -> None:
    """Raise KeyboardInterrupt; inside of an import end at once.

    NOTE: an import releases its lock in a callback, where Python drops each exception.
    """
    code = getattr(frame, "f_code", None)
    if code and code.co_filename.startswith("<frozen importlib"):
        os.write(2, MESSAGE.encode())
        os._exit(INTERRUPTED)
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
