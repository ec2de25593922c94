# SPDX-License-Identifier: Apache-2.0
"""Work that may take long, beside an event loop and without holding up the end of the process."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar

_T = TypeVar("_T")


async def beside(work: Callable[[], _T]) -> _T:
    """What `work` gives, in a thread of its own; where nobody waits any more, nobody waits for the thread.

    A process that ends waits for the threads of an executor, and for what they wait for.

    Args:
        work: raises what this raises.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[_T] = loop.create_future()

    def tell(what: Callable[[], None]) -> None:
        if not done.done():
            what()

    def run() -> None:
        try:
            value = work()
        except Exception as error:  # noqa: BLE001 - raised again where it is waited for
            say = partial(done.set_exception, error)
        else:
            say = partial(done.set_result, value)
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(tell, say)

    threading.Thread(target=run, daemon=True).start()
    return await done
