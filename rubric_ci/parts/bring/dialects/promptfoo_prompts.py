"""promptfoo's prompts: texts and messages, in the file or in others, as the input of cases."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from rubric_ci.files.yaml_text.document import Document
from rubric_ci.parts.bring.dialects.message_parts import (
    NoPart,
    is_image_name,
    is_message,
    our_message,
    our_role,
    texts_of,
)
from rubric_ci.parts.bring.dialects.nunjucks import (
    filled_in,
    filled_in_prompt,
    is_template,
    js_text,
    prompt_values,
)
from rubric_ci.parts.bring.translation import Beside, Translation, placed
from rubric_ci.text import template
from rubric_ci.values.json_value import parsed, with_texts
from rubric_ci.values.problems import Path

_SEPARATOR: Final = re.compile(r"(?m)^[ \t]*---[ \t]*$")
_TEXTS: Final = (".txt", ".md", ".j2", ".json", ".jsonl", ".yaml", ".yml")
_NAME: Final = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_NOT_TEXT: Final = "a prompt that is neither text nor a file of text is not imported, nor its cases"
_NOT_THERE: Final = "is not there, from the folder of this file; promptfoo stops at it, too"
SEVERAL: Final = "a chat prompt for programs and models is not the same text for both"
_CONVERSATION: Final = (
    "`_conversation` has the answers to the tests before, which are separate cases here; write "
    "them as `turns` of one case"
)
_NO_MESSAGES: Final = "a prompt in JSON that is not a list of messages is for a program"


class Prompt(NamedTuple):
    """A prompt with its place; `data` is set if it is JSON, whose texts promptfoo fills in."""

    text: str
    place: Path
    data: Any = None
    messages: bool = False  # a model gets them; a program gets the JSON as text


def prompts_of(found: Translation, written: Any, programs: bool | None) -> Iterator[Prompt]:
    """Yield the prompts; `programs` says who answers, None: programs and models."""
    for item, place in placed(written, ("prompts",), alone=True):
        text = item.get("raw", item.get("id")) if isinstance(item, dict) else item
        if isinstance(item, dict):
            known = ("id", "raw", "label", "display")
            found.skip_keys(item, known, ("function", "provider", "config", "prefix"), place)
        texts = list(_texts(text, found.beside)) if isinstance(text, str) else []
        if not texts:
            is_file = isinstance(text, str) and text.endswith(_TEXTS)
            found.refuse(place, f"`{text}` {_NOT_THERE}" if is_file else _NOT_TEXT)
        for each in texts:
            if prompt := _prompt(found, each, place, programs):
                yield prompt


def _texts(text: str, beside: Beside) -> Iterator[str]:
    """Yield a text, or the texts of the files that it names."""
    name = text.removeprefix("file://")
    if name == text and ("\n" in name or not name.endswith(_TEXTS)):
        yield text
        return
    for file in beside.matching(name) if name.endswith(_TEXTS) else ():
        content = beside.read(file)
        if content is None:
            continue
        if file.endswith((".yaml", ".yml")):
            yield json.dumps(Document(file, content, core=True).data, ensure_ascii=False)
        elif file.endswith(".jsonl"):
            yield from filter(None, content.splitlines())
        elif file.endswith(".txt"):
            parts = (part.strip() for part in _SEPARATOR.split(content))
            yield from filter(None, parts)
        else:
            yield content


def _prompt(found: Translation, text: str, place: Path, programs: bool | None) -> Prompt | None:
    if re.search(r"\b_conversation\b", text):
        found.refuse(place, _CONVERSATION)
        return None
    data = parsed(text)
    if not isinstance(data, dict | list):
        return Prompt(text, place)
    is_chat = isinstance(data, list) and all(map(is_message, data))
    if programs is None or not (programs or is_chat):
        found.refuse(place, SEVERAL if is_chat else _NO_MESSAGES)
        return None
    if is_chat and not programs:
        data = [{**each, "role": our_role(each["role"])} for each in data]
    return Prompt(text, place, data, is_chat and not programs)


def add_input(
    found: Translation, prompt: Prompt, known: Mapping[str, Any], ours: Path, place: Path
) -> Any:
    """Add the prompt with its variables, and return it filled in; raises NotSame and NoPart."""
    if prompt.data is not None:
        made: Any = with_texts(prompt.data, lambda text: filled_in(text, known))
        values = dict(known)
    else:
        values = prompt_values(known)
        made = filled_in_prompt(prompt.text, values)
    _check_images(prompt, made, known)
    if prompt.messages and not all(isinstance(each.get("content"), str) for each in prompt.data):
        messages = [our_message(each, found.images) for each in made]
        return _put(found, (*ours, "input_messages"), messages, prompt.place)
    if prompt.data is not None and not prompt.messages:
        made = json.dumps(made, indent=2, ensure_ascii=False)
    written: Any = prompt.data if prompt.messages else prompt.text
    key = "input_messages" if prompt.messages else "input"
    texts = [each["content"] for each in written] if prompt.messages else [written]
    names = _names(texts) if prompt.messages or prompt.data is None else None
    kept = None if names is None else _kept(texts, made, names, values)
    if kept is None:
        return _put(found, (*ours, key), made, prompt.place)
    found.put((*ours, key), written, prompt.place)
    if kept:
        found.put((*ours, "vars"), kept, (*place, "vars"))
    return made


def _check_images(prompt: Prompt, made: Any, known: Mapping[str, Any]) -> None:
    """Raise NoPart for an image in a text, in which promptfoo writes base64."""
    texts = [text for each in made for text in texts_of(each)] if prompt.messages else [made]
    text = json.dumps(texts, ensure_ascii=False)
    for name, value in known.items():
        if is_image_name(value) and value in text:
            raise NoPart(f"`{name}` is an image in a text; write a part of a message for it")


def _put(found: Translation, ours: Path, made: Any, place: Path) -> Any:
    """Add an input that is filled in, whose braces are text, and return it."""
    found.put(ours, made, place)
    if template.is_template(json.dumps(made)):
        found.put((*ours[:-1], "raw"), True, place)
    return made


def write_out(case: dict[str, Any], text: Any) -> None:
    """Keep braces in the texts of a case, whose prompt is written filled in then."""
    case["input" if isinstance(text, str) else "input_messages"] = text
    case.pop("vars", None)
    case["raw"] = True


def _names(texts: list[str]) -> frozenset[str] | None:
    """Return the variables of templates that ours reads; None: it does not read one."""
    used = [template.used(text) for text in texts]
    if any(each.fault for each in used):
        return None
    return frozenset[str]().union(*(each.names for each in used))


def _kept(
    texts: list[str], made: Any, names: frozenset[str], values: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the variables with which ours makes the same text; None: it does not."""
    if "input" in names:
        return None
    plain = not any(is_template(_NAME.sub("", text)) for text in texts)
    known = {
        name: js_text(values.get(name)) if plain else values.get(name, "") for name in sorted(names)
    }
    wanted = [made] if isinstance(made, str) else [each["content"] for each in made]
    try:
        same = [template.render(text, known) for text in texts] == wanted
    except template.NotRendered:
        return None
    return known if same else None
