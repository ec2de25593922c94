# SPDX-License-Identifier: Apache-2.0
"""Parts that are installed on demand: a command that needs one says which."""

from collections.abc import Iterator
from contextlib import contextmanager

from toolnotary_verifier.errors import ConfigurationError

# What the import of each extra brings, by top-level module: any other module that is missing is a defect.
_MODULES = {
    "fast": {"jiter", "orjson"},
    "gateway": {"httptools", "uvicorn"},
    "registry": {
        "toolnotary_registry_api",
        "fastapi",
        "h11",
        "sqlmodel",
        "sqlalchemy",
        "alembic",
        "uvicorn",
        "psycopg",
    },
    "review": {"deepdiff"},
}


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Around the imports that an extra provides.

    Raises:
        ConfigurationError: `missing-extra`, if one of its modules is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _MODULES[extra]:
            raise
        raise _missing(extra) from None


def is_installed(extra: str) -> bool:
    """Whether an extra is installed; nothing is imported."""
    from importlib.util import find_spec

    return all(find_spec(module) is not None for module in _MODULES[extra])


def ensure(*extras: str) -> None:
    """Check without importing anything that these extras are installed.

    Raises:
        ConfigurationError: `missing-extra`, naming the first that is not.
    """
    for extra in extras:
        if not is_installed(extra):
            raise _missing(extra)


def _missing(extra: str) -> ConfigurationError:
    return ConfigurationError(
        "missing-extra",
        f"this needs the extra {extra}, which is not installed",
        remedy=f"pip install 'toolnotary[{extra}]'",
    )
