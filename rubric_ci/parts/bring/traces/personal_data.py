"""Personal data and keys in texts, found by their form, and texts without them."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from rubric_ci.text.redact import MASK

SECRET: Final = "secret"  # noqa: S105 - the name of a kind
KINDS: Final[Mapping[str, re.Pattern[str]]] = {
    "EMAIL": re.compile(r"(?<![\w.+-])[\w.+-]{1,64}+@[\w-]{1,63}+(?:\.[\w-]{1,63}+){1,9}+"),
    "PHONE": re.compile(
        r"(?<![\w+.-])(?:(?:\+|00)[1-9](?:[ ().\/-]{0,2}\d){6,13}"
        r"|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}"
        r"|\(?0\d{1,4}\)?[ \/-]\d(?:[ -]?\d){4,9})(?![\w-])"
    ),
}
_KEYS: Final = re.compile(
    r"(?<![\w-])(?:sk-[\w-]{16,400}+|gh[oprsu]_\w{20,255}+|github_pat_\w{20,255}+"
    r"|glpat-[\w-]{16,64}+|xox[abeprs]-[\w-]{10,255}+|A[KS]IA[A-Z\d]{16}|AIza[\w-]{35}"
    r"|hf_\w{20,64}+|lsv2_\w{16,128}+|npm_\w{30,64}+|pypi-[\w-]{16,400}+"
    r"|eyJ[\w-]{10,4000}+\.eyJ[\w-]{5,4000}+\.[\w-]{5,4000}+)"
)


class Masker:
    """Masks known secrets, keys of known forms and kinds of personal data, and counts them."""

    def __init__(self, kinds: Iterable[str], hide: Callable[[str], str]) -> None:
        self._kinds = tuple((kind, KINDS[kind]) for kind in kinds)
        self._hide = hide
        self.counts: Counter[str] = Counter()

    def __call__(self, text: str) -> str:
        """Return the text with secrets as `***`, and personal data as its kind."""
        hidden = self._hide(text)
        self.counts[SECRET] += hidden.count(MASK) - text.count(MASK)
        text, found = _KEYS.subn(MASK, hidden)
        self.counts[SECRET] += found
        for kind, pattern in self._kinds:
            text, found = pattern.subn(f"[{kind}]", text)
            self.counts[kind] += found
        return text

    def value(self, value: Any) -> Any:
        """Return a value with every text in it masked, keys as well."""
        if isinstance(value, str):
            return self(value)
        if isinstance(value, list | tuple):
            return [self.value(each) for each in value]
        if isinstance(value, dict):
            return {self(str(key)): self.value(each) for key, each in value.items()}
        return value
