"""Write the list of models from litellm's: `python -m tests.system.packaged_models`."""

import ast
import json
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rubric_ci.text.suggestions import COMMON

FILE = Path(__file__).parents[2] / "rubric_ci/system/models.json"
_SOURCE = "model_prices_and_context_window_backup.json"
_MODES = frozenset({"chat", "completion", "responses"})
_KEPT = re.compile(
    r"mode|deprecation_date|max_output_tokens|default_reasoning_effort"
    r"|(input_cost_per_token|output_cost_per_token|cache_read_input_token_cost)"
    r"(_above_\d+k_tokens)?"
    r"|(input|output)_cost_per_token_batches"
    r"|supports_(response_schema|reasoning|sampling_params|none_reasoning_effort|vision|pdf_input)"
)
_ENDS: Mapping[str, tuple[str, ...]] = {
    # https://developers.openai.com/api/docs/deprecations
    "2026-12-11": (
        *("gpt-5", "gpt-5-2025-08-07", "gpt-5-mini", "gpt-5-mini-2025-08-07"),
        *("gpt-5-nano", "gpt-5-nano-2025-08-07", "o3", "o3-2025-04-16"),
    ),
    "2027-01-14": (
        *("gpt-4.1", "gpt-4.1-2025-04-14", "gpt-4.1-mini", "gpt-4.1-mini-2025-04-14"),
        *("gpt-4o", "gpt-4o-2024-08-06", "gpt-4o-2024-11-20"),
        *("gpt-4o-mini", "gpt-4o-mini-2024-07-18"),
    ),
    # https://ai.google.dev/gemini-api/docs/deprecations
    "2026-12-01": ("gemini/gemini-2.5-flash", "gemini/gemini-2.5-pro"),
}
"""Announced ends that litellm's list lacks."""


def main() -> None:
    """Write the file."""
    FILE.write_text(generated(), encoding="utf-8")


def generated() -> str:
    """Return the text of the file: one model a line, and the providers."""
    entries = {"providers": {"names": _providers()}, **_models()}
    lines = [f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in sorted(entries.items())]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _providers() -> list[str]:
    """Return the values of litellm's enum; to import litellm takes seconds."""
    module = ast.parse((_litellm() / "types/utils.py").read_text(encoding="utf-8"))
    classes = {node.name: node.body for node in module.body if isinstance(node, ast.ClassDef)}
    members = [node.value for node in classes["LlmProviders"] if isinstance(node, ast.Assign)]
    return sorted({*map(ast.literal_eval, members), *COMMON})


def _litellm() -> Path:
    spec = find_spec("litellm")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _models() -> dict[str, dict[str, Any]]:
    known = json.loads((_litellm() / _SOURCE).read_text(encoding="utf-8"))
    models = {
        name: {key: value for key, value in sorted(entry.items()) if _KEPT.fullmatch(key)}
        for name, entry in known.items()
        if entry.get("mode") in _MODES
    }
    for date, names in _ENDS.items():
        for name in names:
            models[name]["deprecation_date"] = date
    return models


if __name__ == "__main__":
    main()
