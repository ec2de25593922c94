# SPDX-License-Identifier: Apache-2.0
"""Why an unchanged server may say something else: what two surfaces tell of it themselves.

A cause explains, and does nothing else: it lowers no risk, changes no verdict and opens no gate. What no pin
holds is never accounted for, whatever the cause: text, names and definitions that are new stand apart.
"""

from toolnotary_verifier.review.cause.causes import causes_of
from toolnotary_verifier.review.cause.model import TITLES, Apart, Cause, Causes, Explained, Known
from toolnotary_verifier.review.cause.names import is_dispatcher

__all__ = ["TITLES", "Apart", "Cause", "Causes", "Explained", "Known", "causes_of", "is_dispatcher"]
