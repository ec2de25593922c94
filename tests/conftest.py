# SPDX-License-Identifier: Apache-2.0
"""What every test shares: hypothesis without deadlines, a home of its own, where outside material lies."""

import compileall
import os
import signal
from collections import Counter
from pathlib import Path

import pytest
from effort import EFFORT, scaled
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
_MANY = 4  # cases of one test

settings.register_profile(
    EFFORT,
    deadline=None,  # no test may depend on how busy the machine is
    max_examples=scaled(30, 600),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    derandomize=True,
)
settings.load_profile(EFFORT)

# A shell starts what it puts in the background with SIGINT ignored, and nohup ignores SIGHUP. Whatever a test
# starts would inherit that; what is handled here is at its default there.
for number in (signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)


def pytest_configure(config: pytest.Config) -> None:
    """Hundreds of tests start our commands: each would compile them where nothing may write bytecode."""
    if not hasattr(config, "workerinput"):
        for package in ("verifier", "signer", "registry_api", "cli"):
            compileall.compile_dir(ROOT / package, quiet=1)
        compileall.compile_dir(ROOT / "tests" / "servers", maxlevels=0, quiet=1)


def pytest_xdist_auto_num_workers() -> int:
    """Two for each processor: half of the time a test waits for a process that it started."""
    return 2 * (os.cpu_count() or 1)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of a test with many cases, quick effort takes every third."""
    if EFFORT == "full":
        return
    tests = [item.nodeid.partition("[")[0] for item in items]
    total, taken = Counter(tests), Counter[str]()
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item, test in zip(items, tests, strict=True):
        is_kept = total[test] <= _MANY or taken[test] % 3 == 0
        (kept if is_kept else left).append(item)
        taken[test] += 1
    items[:] = kept
    config.hook.pytest_deselected(items=left)


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the files of the person who runs it."""
    kept = ("TOOLNOTARY_TEST_EFFORT", "TOOLNOTARY_SHARED")
    for name in [name for name in os.environ if name.startswith("TOOLNOTARY_") and name not in kept]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TOOLNOTARY_HOME", str(tmp_path_factory.mktemp("home")))


@pytest.fixture
def home() -> Path:
    """The personal directory of this test."""
    return Path(os.environ["TOOLNOTARY_HOME"])


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real listings and attack cases: third-party text, not part of this repository."""
    folder = Path(os.environ.get("TOOLNOTARY_SHARED") or ROOT.parent / "shared")
    if not (folder / "cases").is_dir():
        pytest.skip("real listings and cases are not here: set TOOLNOTARY_SHARED to their folder")
    return folder
