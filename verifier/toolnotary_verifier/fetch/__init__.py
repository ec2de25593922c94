# SPDX-License-Identifier: Apache-2.0
"""The registry's client. It fetches and sends bytes and believes none of them.

What comes back is judged elsewhere: `verify` says what a bundle proves. This room sees to it that a registry
that is down, slow, hostile or not a registry at all ends in a typed error within a bounded time, and that
bytes asked for by digest have that digest. The protocol is docs/reference/registry-api.md.
"""

from toolnotary_verifier.fetch.answers import Publication, PublishedVersion, SignedManifest
from toolnotary_verifier.fetch.registry import Registry

__all__ = ["Publication", "PublishedVersion", "Registry", "SignedManifest"]
