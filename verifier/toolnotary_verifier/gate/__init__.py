# SPDX-License-Identifier: Apache-2.0
"""Enforcement of verdicts on one connection, without I/O: fed frames and time, answers what to do.

Rules (DESIGN: enforcement). Frames that hold nothing to look at pass byte for byte. A host's list requests
are answered from one complete verified snapshot, which the gate lists on its own; calls pass only for names
in it. No answer that some reader could take for a listing, and no instructions, reach the host unverified, on
whatever id, in whatever case, batch or spelling they come. What cannot be read in one way only is withheld
and answered with an error. If the gate itself fails, the connection closes.
"""

from toolnotary_verifier.gate.commands import Commands
from toolnotary_verifier.gate.decisions import Decision, Event
from toolnotary_verifier.gate.effects import Effects, Entry, Side
from toolnotary_verifier.gate.exchanges import Exchange, Streams
from toolnotary_verifier.gate.gate import Gate
from toolnotary_verifier.gate.judging import Judge
from toolnotary_verifier.gate.question import Answered, Invitation, Matter, Said, Withheld
from toolnotary_verifier.gate.report import Report

__all__ = [
    "Answered",
    "Commands",
    "Decision",
    "Effects",
    "Entry",
    "Event",
    "Exchange",
    "Gate",
    "Invitation",
    "Judge",
    "Matter",
    "Report",
    "Said",
    "Side",
    "Streams",
    "Withheld",
]
