# SPDX-License-Identifier: Apache-2.0
"""What a user decided earlier about a server, as far as a new pin of it would undo that.

A pin is made without a person only at first contact, or where it repeats what was accepted last: everything
else moves a pin or takes back a no, and that is a person's act (DESIGN: state). A lockfile says nothing here,
since whoever deletes it or names another one would then decide.
"""

from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.history import History
from toolnotary_verifier.lockfile import Entry, SignedEntry


def taken_back(history: History, entry: Entry, change_set: Digest) -> tuple[str, ...]:
    """Which no of the user a pin would take back, one line for each; nothing of it is a server's text.

    Args:
        history: what is recorded.
        entry: what would be pinned.
        change_set: the digest of what a person is shown.
    """
    withdrawn = history.withdrawn.get(entry.server, set())
    declined = history.refused.get(entry.server, set())
    lines = []
    if isinstance(entry, SignedEntry):
        if entry.manifest in withdrawn:
            lines.append("you withdrew exactly this before: a yes accepts it again")
        is_declined = not declined.isdisjoint((change_set, entry.manifest))
    else:
        again = sum(pin.exact in withdrawn for pin in entry.pins)
        if again:
            lines.append(
                f"you withdrew {again} of {len(entry.pins)} definitions before: a yes accepts them again"
            )
        is_declined = change_set in declined
    if is_declined:
        lines.append("you declined exactly this before")
    return tuple(lines)


def passed_over(history: History, entry: Entry) -> tuple[str, ...]:
    """What was decided about the server otherwise: a first contact, and what was accepted last, give nothing.

    A signed version is what was accepted last where its manifest was accepted, under whatever launch it
    names, and no sequence above or below it since.

    Args:
        history: what is recorded.
        entry: what would be pinned.
    """
    server = entry.server
    if server not in history.servers:
        return ()
    mark, signer = history.sequences.get(server), history.signers.get(server)
    if not isinstance(entry, SignedEntry):
        return () if mark is None else (f"you accepted before what {signer} signed, sequence {mark}",)
    if mark is None:
        is_accepted = any(place[0] == server and pins for place, pins in history.pins.items())
        what = "accepted what it showed, unsigned" if is_accepted else "declined or withdrew something of it"
        return (f"it is no first contact: you {what}, before",)
    accepted = any(place[0] == server and entry.manifest in held for place, held in history.manifests.items())
    if accepted and (mark, signer) == (entry.sequence, entry.signer):
        return ()
    by = "" if signer == entry.signer else f" by {signer}"
    told = [f"you accepted another version before: sequence {mark}{by}; this one has {entry.sequence}"]
    if entry.sequence > mark:
        told.append(f"after a yes sequence {mark} is a rollback, in every lockfile that pins it")
    return tuple(told)
