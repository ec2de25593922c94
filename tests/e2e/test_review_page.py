# SPDX-License-Identifier: Apache-2.0
"""The review page in a real browser: what a person sees there, and what their click does."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from chromium import Browser, browsing
from pinned_servers import FIND, LOSE, POISONED, Bench, bench
from reviewing import Page

__all__ = ["bench"]

Json = Any
HOSTILE: Json = {
    **FIND,
    "description": "Find.<script>window.hit=1;document.title='hit'</script><img src=x onerror=window.hit=1>"
    "</div></main><form action=https://evil.example><button>Accept</button></form>"
    "\u202e\U000e0041\u200b<style>body{display:none}</style><meta http-equiv=refresh content=0>"
    " \u0645\u0644\u0641 " + "w" * 400,
}
EVIL = """<!doctype html><title>evil</title><iframe id=framed src="{url}"></iframe>
<form id=answer method=post action="{url}answer">
<input name=subject value="{subject}"><input name=answer value=yes></form>"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browsing(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _changed(bench: Bench, browser: Browser) -> Iterator[None]:
    bench.pin()
    bench.shows(POISONED, LOSE)
    yield
    browser.open("about:blank")


def asked(bench: Bench, *more: str) -> Page:
    return Page("approve", "files", "--page", "--no-open", *more, directory=bench.folder)


def test_a_click_accepts_what_was_read(bench: Bench, browser: Browser) -> None:
    """From the line that is started to the end, with no script and nothing from elsewhere."""
    with asked(bench) as page:
        browser.open(page.url)
        assert "server.json" in browser.text()
        browser.click("Start it")
        read = browser.wait("files is not as it was pinned")
        assert "Send it to me first." in read
        assert "withheld" in read
        assert "changed" in read
        assert browser.ask("return document.scripts.length") == 0
        browser.click("Accept")
        assert "Accepted: files" in browser.wait("You can close this page.")
        code, out, _ = page.end()
    assert (code, out.startswith("accepted: files")) == (0, True)
    assert bench.json("check", "--start")[0] == 0
    # A browser may send a form once more while the page goes on; what was answered is not answered again.
    usual = ("favicon", "/answer - Failed to load resource: the server responded with a status of 409")
    assert [line for line in browser.complaints() if not any(one in line for one in usual)] == []


def test_a_click_declines_and_that_is_remembered(bench: Bench, browser: Browser) -> None:
    with asked(bench, "--start") as page:
        browser.open(page.url)
        browser.click("Decline")
        assert "Declined: files stays as it was pinned" in browser.wait("You can close this page.")
        assert page.end()[0] == 1
    assert bench.json("check", "--start")[0] == 1
    with asked(bench, "--start") as page:
        browser.open(page.url)
        assert "you declined exactly this before" in browser.text()


def test_the_browsers_own_style_policy_lets_ours_through_in_light_and_dark(
    bench: Bench, browser: Browser
) -> None:
    with asked(bench, "--start") as page:
        colours = []
        for scheme in ("light", "dark"):
            feature = {"name": "prefers-color-scheme", "value": scheme}
            browser.devtools("Emulation.setEmulatedMedia", features=[feature])
            browser.open(page.url)
            script = "const s=getComputedStyle(document.body);return [s.backgroundColor,s.color]"
            colours.append(browser.ask(script))
        browser.devtools("Emulation.setEmulatedMedia", features=[])
    assert colours[0][0] == "rgb(251, 250, 247)"
    assert colours[0] != colours[1]


def test_what_a_hostile_server_writes_runs_nowhere_and_is_read_as_text(
    bench: Bench, browser: Browser
) -> None:
    bench.shows(HOSTILE, {**LOSE, "name": "lose\u202e<b>x</b>"})
    browser.complaints()
    with asked(bench, "--start") as page:
        browser.open(page.url)
        read = browser.text()
        assert browser.ask("return window.hit") is None
        assert browser.ask("return document.querySelectorAll('script,img,iframe').length") == 0
        assert browser.ask("return document.forms.length") == 1
        assert browser.ask("return [...document.querySelectorAll('button')].map(b => b.innerText)") == [
            "Decline",
            "Accept",
        ]
        assert "<script>window.hit=1" in read
        assert "\\u{202e}\\u{e0041}\\u{200b}" in read
        assert "lose\\u{202e}<b>x</b>" in read
        assert browser.ask("return performance.getEntriesByType('resource').length") in (0, 1), (
            "an icon at most"
        )
        assert not [line for line in browser.complaints() if "Content Security Policy" in line]


def test_nothing_is_wider_than_a_phone(bench: Bench, browser: Browser) -> None:
    bench.shows(HOSTILE, {**LOSE, "name": "n" * 180})
    phone = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    with asked(bench, "--start") as page:
        browser.devtools("Emulation.setDeviceMetricsOverride", **phone)
        try:
            browser.open(page.url)
            wide = browser.ask("return [document.documentElement.scrollWidth, window.innerWidth]")
            heights = browser.ask("return [...document.querySelectorAll('button')].map(b => b.offsetHeight)")
        finally:
            browser.devtools("Emulation.clearDeviceMetricsOverride")
    assert wide[0] <= wide[1] == 360
    assert all(height >= 44 for height in heights), "a thumb finds them"


def test_another_site_can_neither_frame_the_page_nor_answer_on_it(bench: Bench, browser: Browser) -> None:
    """Even one that knows the token and the change set, in the same browser."""
    before = (bench.folder / "toolnotary.lock").read_bytes()
    with asked(bench, "--start") as page:
        browser.complaints()
        text = EVIL.format(url=page.url, subject=page.subject()).encode()

        class Evil(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's
                """Nothing."""

        with HTTPServer(("127.0.0.1", 0), Evil) as evil:
            threading.Thread(target=evil.serve_forever, args=(0.05,), daemon=True).start()
            browser.open(f"http://localhost:{evil.server_port}/")
            framed = (
                "try{return document.getElementById('framed').contentDocument===null}catch(e){return true}"
            )
            assert browser.ask(framed)
            browser.ask("document.getElementById('answer').submit()")
            assert "An answer counts only from the page itself." in browser.wait("Not possible")
            evil.shutdown()
        assert (bench.folder / "toolnotary.lock").read_bytes() == before
        browser.open(page.url)
        browser.click("Decline")
        browser.wait("Declined")
        assert page.end()[0] == 1


def test_a_second_tab_is_told_that_it_was_answered(bench: Bench, browser: Browser) -> None:
    with asked(bench, "--start") as page:
        first = browser.tab()
        browser.open(page.url)
        second = browser.new_tab()
        browser.open(page.url)
        page.press("no")  # as in the first tab; its page is not followed, so that the command waits for it
        browser.click("Accept")
        assert "answered already" in browser.wait("Not possible")
        browser.look_at(first)
        browser.open(page.url)
        browser.wait("Declined")
        assert page.end()[0] == 1
        browser.look_at(second)


def test_many_changes_are_accepted_once_every_sheet_was_opened(bench: Bench, browser: Browser) -> None:
    tools = [{**FIND, "name": f"tool{number}", "description": "Much. " * 250} for number in range(400)]
    bench.shows(FIND, LOSE, *tools)
    with asked(bench, "--start") as page:
        browser.open(page.url)
        assert "(1 of " in browser.text()
        assert "Accept" not in browser.ask(
            "return [...document.querySelectorAll('button')].map(b => b.innerText)"
        )
        sheets = browser.ask("return document.querySelector('nav').querySelectorAll('a').length")
        for sheet in range(2, sheets + 1):
            browser.click(str(sheet))
        browser.click("Accept")
        browser.wait("Accepted: files")
        assert page.end()[0] == 0
    assert bench.json("check", "--start")[0] == 0
