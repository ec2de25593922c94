# SPDX-License-Identifier: Apache-2.0
"""A report for a job of GitHub Actions: annotations on standard output, and a job summary.

Annotations are workflow commands: a line that begins with `::`. Everything in one is escaped as the runner
unescapes it, so that no text ends its command or begins another. A step shows ten of each level; one line is
kept for how many there are besides.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from toolnotary_cli.marking import marked, unmarked
from toolnotary_cli.rendering.excerpt import around, clipped
from toolnotary_cli.rendering.markdown import bounded
from toolnotary_cli.rendering.report import Item, Location, Report, counted_risks
from toolnotary_cli.wording import counted
from toolnotary_verifier.review import Risk

MOST: Final = 9
# A step's summary has at most 1 MiB; a larger one is not shown at all.
SUMMARY: Final = (1 << 20) - (1 << 16)
SUMMARY_VARIABLE: Final = "GITHUB_STEP_SUMMARY"
# What shows every finding: the summary where there is one and it has room.
IN_SUMMARY: Final = "the job summary"
ELSEWHERE: Final = "--format text, or a file of --report sarif=FILE"
_LEVEL: Final = {
    Risk.CRITICAL: "error",
    Risk.HIGH: "error",
    Risk.MEDIUM: "warning",
    Risk.LOW: "notice",
    Risk.NONE: "notice",
}
_NAME: Final = 300
_ROOM: Final = 400


def annotations(report: Report, *, rest_in: str = ELSEWHERE) -> Iterator[str]:
    """The worst findings as annotations, then one line that says how many there are besides.

    Args:
        report: what to draw.
        rest_in: what shows those, in words.
    """
    for item in report.items[:MOST]:
        yield _command(_LEVEL[item.risk], _message(item), title=_title(item), location=item.location)
    rest = report.items[MOST:]
    if rest:
        told = f"and {counted(len(rest), 'more finding')} ({counted_risks(rest)}): see {rest_in}"
        yield _command("notice", told, title=f"toolnotary {report.command}", location=rest[0].location)
    elif not report.items:
        yield _command("notice", report.headline, title=f"toolnotary {report.command}", location=None)


def _title(item: Item) -> str:
    return f"{item.risk.value}: {item.rules[0].title} [{item.rules[0].id}]"


def _message(item: Item) -> str:
    text = "".join(marked(origin, part) for origin, part in around(item, _ROOM))
    where, detail = unmarked(clipped(item.where, _NAME)), unmarked(item.detail)
    told = [f"{where}: {item.titles}", detail, text, item.rules[0].remedy]
    return "\n".join(line for line in told if line)


def _command(level: str, message: str, *, title: str, location: Location | None) -> str:
    """A workflow command, as the runner takes it apart."""
    where = [] if location is None else [("file", location.path), ("line", str(location.line))]
    properties = ",".join(f"{name}={_property(value)}" for name, value in (*where, ("title", title)))
    return f"::{level} {properties}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def add_summary(report: Report, path: Path) -> bool:
    """Write the report behind what the step has in its summary already, within what GitHub shows.

    Returns:
        Whether every finding stands there now.

    Raises:
        OSError: the file cannot be written.
    """
    room = SUMMARY - (path.stat().st_size if path.exists() else 0)
    text, told = bounded(report, most=room) if room > 0 else ("", 0)
    fits = 0 < len(text.encode("utf-8")) <= room
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(text if fits else "")
    return fits and told == len(report.items)
