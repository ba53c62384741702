"""What a text that is no number was meant as: `5m`, `90%`, `$5`, `1,000`."""

import re
from typing import Final

_UNITS: Final = {
    "ms": 0.001,
    "s": 1,
    "sec": 1,
    "m": 60,
    "min": 60,
    "h": 3600,
    "second": 1,
    "minute": 60,
    "hour": 3600,
}


def seconds(text: str) -> str:
    """Return the hint for a duration with its unit, or ""."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([a-z]+?)", text)
    unit = _UNITS.get(found[2]) or _UNITS.get(found[2].removesuffix("s")) if found else None
    return f"write {float(found[1]) * unit:g}: the unit is seconds" if found and unit else ""


def number(text: str) -> str:
    """Return the hint for an amount, a share or a number with separators, or ""."""
    if share := re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]+)?) ?%", text):
        return f"write {float(share[1]) / 100:g}"
    amount = re.fullmatch(r"[$€£]\s?([0-9]+(?:\.[0-9]+)?)", text)
    amount = amount or re.fullmatch(r"(?i)([0-9]+(?:\.[0-9]+)?)\s?(?:[$€£]|usd|dollars?)", text)
    if amount:
        return f"write {amount[1]}"
    if re.fullmatch(r"[1-9][0-9]{0,2}(?:[,_ '][0-9]{3})+", text):
        return f"write {re.sub('[^0-9]', '', text)}"
    return f"write {text.replace(',', '.')}" if re.fullmatch(r"[0-9]+,[0-9]{1,2}", text) else ""
