# SPDX-License-Identifier: Apache-2.0
"""What a captured server must not get: the means to sign, publish or act in the pipeline that captures it.

Whatever starts a server must not be able to sign (DESIGN: command line). The variables below are left out of
the child's environment. That alone is not enough where this process can ask for an identity token: a child
that runs as the same user can read our environment, so `capture` refuses to start anything there.
"""

import base64
import json
import re
from collections.abc import Mapping

from toolnotary_verifier.errors import ConfigurationError

# Variables through which a job asks for an identity token, or holds one, by the CI system that sets them.
_IDENTITY = (
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN",  # GitHub Actions, with `id-token: write`
    "ACTIONS_ID_TOKEN_REQUEST_URL",
    "BITBUCKET_STEP_OIDC_TOKEN",
    "BUILDKITE_AGENT_ACCESS_TOKEN",  # the agent's endpoint issues identity tokens for it
    "CIRCLE_OIDC_TOKEN",
    "CIRCLE_OIDC_TOKEN_V2",
    "SEMAPHORE_OIDC_TOKEN",
    "SIGSTORE_ID_TOKEN",  # the name that GitLab's and Sigstore's documentation give it
    "SYSTEM_OIDCREQUESTURI",  # Azure Pipelines
)
_PIPELINE = frozenset(
    {
        *_IDENTITY,
        "ACTIONS_CACHE_URL",
        "ACTIONS_RESULTS_URL",
        "ACTIONS_RUNTIME_TOKEN",
        "ACTIONS_RUNTIME_URL",
        "CI_BUILD_TOKEN",
        "CI_DEPLOY_PASSWORD",
        "CI_JOB_TOKEN",
        "CI_REGISTRY_PASSWORD",
        "CI_REPOSITORY_URL",  # GitLab writes the job token into it
        "CIRCLE_TOKEN",
        "CODEBUILD_WEBHOOK_TOKEN",
        "GH_TOKEN",
        "GITHUB_ENV",  # files whose content steers the later steps of a job
        "GITHUB_OUTPUT",
        "GITHUB_PATH",
        "GITHUB_STATE",
        "GITHUB_STEP_SUMMARY",
        "GITHUB_TOKEN",
        "GITLAB_TOKEN",
        "NODE_AUTH_TOKEN",
        "NPM_TOKEN",
        "SYSTEM_ACCESSTOKEN",
        "TWINE_PASSWORD",
        "UV_PUBLISH_PASSWORD",
        "UV_PUBLISH_TOKEN",
        "VAULT_TOKEN",
    }
)
_PREFIXES = ("TOOLNOTARY_", "COSIGN_", "SIGSTORE_", "CI_JOB_JWT", "INPUT_")
_JWT = re.compile(r"eyJ[A-Za-z0-9_-]+\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+")


def is_held_back(name: str) -> bool:
    """Whether a captured server does not get the variable of this name."""
    folded = name.upper()  # Windows does not tell the cases apart
    return folded in _PIPELINE or folded.startswith(_PREFIXES)


def child_environment(
    environment: Mapping[str, str], *, handed: frozenset[str] = frozenset()
) -> dict[str, str]:
    """What of `environment` a captured server gets; names in `handed` stay in any case."""
    return {name: value for name, value in environment.items() if name in handed or not is_held_back(name)}


def refuse_identity(environment: Mapping[str, str]) -> None:
    """Refuse to start a server from a process that could obtain an identity to sign with.

    Raises:
        ConfigurationError: `identity-at-hand`.
    """
    names = [name for name in _IDENTITY if environment.get(name)]
    if "GITLAB_CI" in environment:  # which lets a job choose the name of its token
        names += sorted(name for name, value in environment.items() if _is_for_signing(value))
    if names:
        raise ConfigurationError(
            "identity-at-hand",
            f"this process can obtain an identity to sign with ({', '.join(names)}), and a server that it "
            "starts could do so too",
            remedy="capture in a job that has no such permission, and hand its file to the job that signs",
        )


def _is_for_signing(value: str) -> bool:
    found = _JWT.fullmatch(value)
    if found is None:
        return False
    body = found[1]
    try:
        claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    except ValueError:
        return False
    audience = claims.get("aud") if isinstance(claims, dict) else None
    return "sigstore" in (audience if isinstance(audience, list) else [audience])
