# SPDX-License-Identifier: Apache-2.0
"""Environment variables that decide which code a server runs, and so belong to what was started.

Listed is what makes a runtime, the dynamic linker or a package installer load other code than it would
without the variable. PATH is not: it differs on every machine, and what a bare command name means is the
user's own doing (docs/spec/launch.md says so). Variables that only configure a server are its own business.
"""

import re
from collections.abc import Mapping

from toolnotary_verifier.secrecy import mask

_LOADS_CODE = re.compile(
    r"NODE_(?:OPTIONS|PATH)|PYTHON(?:PATH|STARTUP|HOME|USERBASE|PLATLIBDIR|EXECUTABLE|PYCACHEPREFIX)"
    r"|LD_(?:PRELOAD|LIBRARY_PATH|AUDIT)|GCONV_PATH|DYLD_[A-Z_]+|BASH_ENV|PERL5(?:LIB|OPT|DB)|RUBY(?:OPT|LIB)"
    r"|(?:_JAVA|JDK_JAVA|JAVA_TOOL)_OPTIONS|CLASSPATH|DOTNET_STARTUP_HOOKS"
    r"|COR(?:ECLR)?_PROFILER(?:_PATH(?:_32|_64)?)?"
    r"|NPM_CONFIG_(?:REGISTRY|@.*:REGISTRY|USERCONFIG|GLOBALCONFIG|NODE_OPTIONS|SCRIPT_SHELL)"
    r"|YARN_(?:REGISTRY|NPM_REGISTRY_SERVER|RC_FILENAME)|BUN_CONFIG_REGISTRY|DENO_IMPORT_MAP"
    r"|PIP_(?:INDEX_URL|EXTRA_INDEX_URL|FIND_LINKS|CONFIG_FILE|NO_INDEX)"
    r"|UV_(?:INDEX.*|DEFAULT_INDEX|EXTRA_INDEX_URL|FIND_LINKS|CONFIG_FILE|OVERRIDE|CONSTRAINT|PYTHON)"
    r"|PIPX_DEFAULT_PYTHON|DOCKER_(?:HOST|CONTEXT)|CONTAINER_HOST",
    re.IGNORECASE,
)


def loads_code(name: str) -> bool:
    """Whether an environment variable of this name decides which code is run."""
    return _LOADS_CODE.fullmatch(name) is not None


def code_loading(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that decide which code is run, credentials in their URLs masked, empty ones left out."""
    return {
        name: mask(environment[name])
        for name in sorted(environment)
        if environment[name] and loads_code(name)
    }
