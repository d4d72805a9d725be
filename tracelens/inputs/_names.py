"""Names of recordings: paths and URLs."""

from __future__ import annotations


def is_url(name: str) -> bool:
    """Whether a name is one of fsspec's, such as ``s3://bucket/run.sqlite``."""
    scheme, found, _ = name.partition("://")
    return bool(found) and scheme.replace("+", "").replace("-", "").replace(":", "").isalnum()


def shown(name: str) -> str:
    """A name as it may be shown and kept: a URL without the secrets that its query and its user
    may hold."""
    if not is_url(name):
        return name
    scheme, _, rest = name.partition("://")
    place, slash, path = rest.partition("/")
    if scheme.endswith(("http", "https")):
        path = path.partition("?")[0]
    return f"{scheme}://{place.rpartition('@')[2]}{slash}{path}"
