# SPDX-License-Identifier: Apache-2.0
"""Which known profiles hold which definitions of a listing; `decide` draws the conclusions.

Profiles are numbered: the accepted ones first, then the other profiles of the pinned manifest (together the
*own* ones), then the profiles of the manifests that are on offer. Only the enforced kinds say which profile a
server is in.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from toolnotary_verifier.canonical import CanonicalError, Digest
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.equivalence import normal_digest
from toolnotary_verifier.pins import Key, KnownProfile, Pins, capabilities_digest
from toolnotary_verifier.surface import Surface

if TYPE_CHECKING:
    from toolnotary_verifier.verify import VerifiedManifest

# The kinds that the gate closes on. Resources and templates come and go with what a server is pointed at;
# policy says whether they are more than reported.
ENFORCED: Final = frozenset((Kind.TOOL, Kind.PROMPT, Kind.INSTRUCTIONS))


class Fit(NamedTuple):
    """A definition that a profile holds.

    Attributes:
        pinned: the digest under which the profile holds it.
        definition: what may be handed on: the live definition where the two are exactly equal, else the one
            that the profile holds.
        exact: whether they are exactly equal.
    """

    pinned: Digest
    definition: Definition
    exact: bool


Fits = Mapping[int, Fit]  # by number of the profile


class Matching:
    """The fits of one listing.

    Attributes:
        profiles: all known profiles, as numbered.
        own: how many of them belong to what is pinned.
        fits: by key of the live definition.
        base: the accepted profile that the listing is judged by, None where nothing is accepted.
        offered: the manifest on offer that holds all of the listing, None where none does.
        mixed: definitions for which another one exists that no known profile holds together with them.
    """

    def __init__(
        self, surface: Surface, pins: Pins, candidates: "Sequence[VerifiedManifest]", *, normal_forms: bool
    ) -> None:
        self._candidates = candidates
        offers = [
            (number, KnownProfile.of(candidate.manifest, name))
            for number, candidate in enumerate(candidates)
            for name in candidate.manifest.profiles
        ]
        self.own = len(pins.profiles) + len(pins.others)
        self.profiles = (*pins.profiles, *pins.others, *(profile for _, profile in offers))
        self._offers = {self.own + place: number for place, (number, _) in enumerate(offers)}
        known = {key: self._fits_of(live) for key, live in surface.definitions.items()}
        self.fits: Mapping[Key, Fits] = known if normal_forms else _exact(known)
        self._enforced = {key: fits for key, fits in self.fits.items() if key[0] in ENFORCED}
        self.base = self._base(len(pins.profiles), surface)
        faulty = any(fault.kind in ENFORCED for fault in surface.faults)
        self._offer = None if faulty else self._whole_offer(pins.signer)
        # Whatever the policy says of normal forms: being stricter about them must not explain a mixture away.
        self.mixed = _conflicts(known)

    @property
    def offered(self) -> "VerifiedManifest | None":
        """The manifest on offer that holds all of the listing."""
        return None if self._offer is None else self._candidates[self._offers[self._offer]]

    def is_offered(self, key: Key) -> bool:
        """Whether that manifest holds this definition; it may lack some of a kind that is not enforced."""
        return self._offer is not None and self._offer in self.fits[key]

    def fit(self, key: Key) -> Fit | None:
        """How the accepted profile that the listing is judged by holds this definition."""
        return None if self.base is None else self.fits[key].get(self.base)

    def is_own(self, key: Key) -> bool:
        """Whether any profile of what is pinned holds this definition, accepted or not."""
        return any(number < self.own for number in self.fits[key])

    def pinned(self, key: Key) -> Digest | None:
        """The digest that is pinned under this name; the first where one name may have several."""
        known = () if self.base is None else self.profiles[self.base].definitions.get(key, ())
        return known[0].exact if known else None

    def own_whole(self) -> KnownProfile | None:
        """The own profile that holds everything in the listing which any own profile holds."""
        covering = set(range(self.own))
        for fits in self._enforced.values():
            held = fits.keys() & range(self.own)
            if held:
                covering &= held
        return self.profiles[min(covering)] if covering else None

    def _fits_of(self, live: Definition) -> Fits:
        fits = {}
        normal: Digest | None = None
        for number, profile in enumerate(self.profiles):
            known = profile.definitions.get(live.key, ())
            if any(one.exact == live.digest for one in known):
                fits[number] = Fit(live.digest, live, exact=True)
            elif known:
                normal = normal or normal_digest(live)
                for one in known:
                    text = one.text() if one.normal() == normal else None
                    if text is not None and text.digest == one.exact:
                        fits[number] = Fit(one.exact, text, exact=False)
                        break
        return fits

    def _base(self, accepted: int, surface: Surface) -> int | None:
        """The accepted profile that holds most of the listing, exact matches first.

        Of equals, the one with the capabilities that the server advertises (it may speak several revisions,
        each with its own), then the first.
        """
        scores = dict.fromkeys(range(accepted), (0, 0))
        for fits in self._enforced.values():
            for number in scores.keys() & fits.keys():
                held, exact = scores[number]
                scores[number] = (held + 1, exact + fits[number].exact)
        advertised = _advertised(surface)

        def rank(number: int) -> tuple[tuple[int, int], bool, int]:
            return (scores[number], self.profiles[number].capabilities == advertised, -number)

        return max(scores, key=rank, default=None)

    def _whole_offer(self, signer: str | None) -> int | None:
        """The offered profile that holds all of the listing: the pinned signer's newest before any other."""
        covering = set(self._offers) if self._enforced else set()
        for fits in self._enforced.values():
            covering &= fits.keys()

        def rank(number: int) -> tuple[bool, int, int]:
            candidate = self._candidates[self._offers[number]]
            return (candidate.signer.identity == signer, candidate.sequence, -number)

        return max(covering, key=rank, default=None)


def _exact(known: Mapping[Key, Fits]) -> Mapping[Key, Fits]:
    return {key: {number: fit for number, fit in fits.items() if fit.exact} for key, fits in known.items()}


def _conflicts(known: Mapping[Key, Fits]) -> frozenset[Key]:
    groups: dict[frozenset[int], list[Key]] = {}
    for key, fits in known.items():
        if fits and key[0] in ENFORCED:
            groups.setdefault(frozenset(fits), []).append(key)
    torn = [one for one in groups if any(not one & other for other in groups)]
    return frozenset(key for group in torn for key in groups[group])


def _advertised(surface: Surface) -> Digest | None:
    try:
        return capabilities_digest(surface.capabilities)
    except CanonicalError:  # what has no canonical form equals nothing that was accepted
        return None
