"""Take out of a name what tells of a person or a machine, and leave what tells of the work.

What is equal stays equal and what differs stays different, so that ranges are still grouped as they
were.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

_PATH = re.compile(
    r"(?<![\w.~:/\\])(?:file://)?(?:~\w*|\.{1,2}|[A-Za-z]:)?"
    r"(?:[/\\][^\s/\\:\"'<>|,;()\[\]{}=]+){2,}"
)
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s\"'<>]+", re.IGNORECASE)
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_ADDRESS = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])")
_ISSUED = re.compile(
    r"(?<![A-Za-z0-9])(?:sk-|gh[opsu]_|github_pat_|hf_|xox[abprs]-|AKIA|AIza|glpat-|eyJ)"
    r"[\w.-]{12,}"
)
_ASSIGNED = re.compile(
    r"(?i)\b(?:[\w-]*(?:token|secret|passw(?:or)?d|api[_-]?key|credentials?))\s*[=:]\s*"
    r"(?!\d+\b)[^\s,;]+"
)
_RANDOM = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]{20,}(?![A-Za-z0-9])")
_CHANGES = re.compile(r"(?<=\d)(?=[A-Za-z])|(?<=[A-Za-z])(?=\d)")
_MIN_CHANGES = 5
"""From letters to digits and back: words with numbers in them change less often than keys do."""
_HOME = re.compile(r"[/\\](?:home|Users|users)[/\\]([^/\\\s:\"']+)")
_ANYBODY = frozenset(
    {"root", "user", "users", "ubuntu", "admin", "home", "shared", "public", "nobody", "runner"}
    | {"localhost", "python", "python3", "forward", "backward", "optimizer", "train", "main"}
)
"""Names that tell of nobody, and that may be words in the names of kernels and ranges."""
_SHORTEST_IDENTITY = 3
_SEARCHED = 1000


def users_of_paths(text: str) -> set[str]:
    """Names of users that paths in a text tell: those below /home and /Users."""
    return {name for name in _HOME.findall(text) if _is_identity(name)}


def _is_identity(name: str) -> bool:
    return len(name) >= _SHORTEST_IDENTITY and name.lower() not in _ANYBODY and not name.isdigit()


class Masker:
    """Masks names, and remembers what it took out of them."""

    def __init__(self, identities: Iterable[str] = ()) -> None:
        self.removed: set[str] = set()
        self.masked = 0
        self.identities = sorted(filter(_is_identity, set(identities)), key=len, reverse=True)
        self._known: dict[str, dict[str, dict[str, int]]] = {}
        self._kernels: dict[str, str] = {}
        self._seen: dict[str, str] = {}
        names = "|".join(map(re.escape, self.identities))
        self._identity = (
            re.compile(rf"(?<![A-Za-z0-9])(?:{names})(?![A-Za-z0-9])") if names else None
        )

    def mask(self, text: str) -> str:
        """The name without mail addresses, keys, addresses and people, its paths cut short."""
        if text not in self._seen:
            self._seen[text] = self._mask(text)
            self.masked += self._seen[text] != text
        return self._seen[text]

    def _mask(self, text: str) -> str:
        shown = text
        for kind, pattern in (
            ("key", _ISSUED), ("key", _ASSIGNED), ("mail", _MAIL), ("url", _URL),
        ):  # fmt: skip
            shown = pattern.sub(self._placeholder(kind), shown)
        shown = _PATH.sub(self._shortened, shown)
        shown = _ADDRESS.sub(self._placeholder("address"), shown)
        shown = _RANDOM.sub(self._key, shown)
        if self._identity:
            shown = self._identity.sub(self._placeholder("name"), shown)
        return shown

    def kernel(self, name: str) -> str:
        """A number instead of a kernel's name: the same for the same name."""
        if name not in self._kernels:
            self._kernels[name] = f"kernel {len(self._kernels) + 1}"
        return self._kernels[name]

    def telling(self) -> list[str]:
        """Texts that were taken out and are long enough to stand nowhere by chance: the longest, as
        many as a file can be searched for."""
        long = {t for t in (*self.removed, *self.identities, *self._kernels) if len(t) >= 8}
        return sorted(long, key=lambda text: (-len(text), text))[:_SEARCHED]

    def leaks(self, text: str) -> bool:
        """Whether a text still holds what masking takes out."""
        return text in self._kernels or Masker(self.identities).mask(text) != text

    def _placeholder(self, kind: str) -> Callable[[re.Match[str]], str]:
        """What stands for a match: equal for what differs in numbers alone, but for a number."""

        def replace(found: re.Match[str]) -> str:
            self.removed.add(found[0])
            folded = re.sub(r"\d+", "#", found[0])
            alike = self._known.setdefault(kind, {})
            same = alike.setdefault(folded, {})
            number = same.setdefault(found[0], len(same) + 1)
            letter = _letters(list(alike).index(folded))
            return f"({kind} {letter}{number if folded != found[0] else ''})"

        return replace

    def _key(self, found: re.Match[str]) -> str:
        text = found[0]
        is_random = len(_CHANGES.findall(text)) >= _MIN_CHANGES
        return self._placeholder("key")(found) if is_random else text

    def _shortened(self, found: re.Match[str]) -> str:
        self.removed.add(found[0])
        return re.split(r"[/\\]", found[0])[-1]


def _letters(index: int) -> str:
    """A, B … Z, AA, AB …: digits would be taken for the number of an iteration."""
    text = ""
    while index >= 0:
        text = chr(ord("A") + index % 26) + text
        index = index // 26 - 1
    return text
