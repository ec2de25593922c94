# SPDX-License-Identifier: Apache-2.0
"""`toolnotary diff`: its exit codes, its text, its JSON, and which surfaces it puts side by side."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # ships no types
import pytest

from toolnotary_cli.main import main
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.manifest import Profile, UnnamedManifest
from toolnotary_verifier.surface import Surface, assemble

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "schemas" / "diff.json").read_text(encoding="utf-8"))
Captured = pytest.CaptureFixture[str]


def tool(name: str = "read", **members: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **members}


def listing(folder: Path, name: str, *tools: Any) -> str:
    path = folder / name
    path.write_text(json.dumps({"tools": tools}), encoding="utf-8")
    return str(path)


def manifest(folder: Path, name: str, **profiles: Surface | list[Surface]) -> str:
    built = UnnamedManifest.build(
        profiles={
            profile: (Profile(), tuple(seen) if isinstance(seen, list) else (seen,))
            for profile, seen in profiles.items()
        }
    )
    path = folder / name
    path.write_bytes(built.canonical)
    return str(path)


def surface(*tools: Any) -> Surface:
    return assemble({Kind.TOOL: tools})


def as_json(arguments: list[str], capsys: Captured) -> tuple[int, dict[str, Any]]:
    code = main(["diff", *arguments, "--format", "json"])
    printed = capsys.readouterr().out
    assert printed.isascii()
    document = json.loads(printed)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert document["equal"] is (code == 0)
    return code, document


def test_equal_surfaces_end_with_zero(tmp_path: Path, capsys: Captured) -> None:
    old = listing(tmp_path, "old.json", tool("a"), tool("b"))
    new = listing(tmp_path, "new.json", tool("b"), tool("a"))
    code, document = as_json([old, new], capsys)
    assert (code, document["findings"]) == (0, [])


def test_a_difference_ends_with_one_and_is_told_with_both_values(tmp_path: Path, capsys: Captured) -> None:
    old = listing(tmp_path, "old.json", tool(x=9223372036854775807))
    new = listing(tmp_path, "new.json", tool(x=[True]), tool("more"))
    code, document = as_json([old, new], capsys)
    changed, added = sorted(document["findings"], key=lambda finding: str(finding["name"]), reverse=True)
    assert code == 1
    assert changed == {
        "rule": "extension-changed",
        "risk": "medium",
        "kind": "tool",
        "name": "read",
        "change": "changed",
        "path": "/x",
        "old": 9223372036854775807,
        "new": [True],
    }
    assert (added["change"], added["path"], added["new"]["name"]) == ("added", "", "more")


def test_faults_and_renames_are_in_the_document(tmp_path: Path, capsys: Captured) -> None:
    old = listing(tmp_path, "old.json", tool("a"), {"no": "name"})
    new = listing(tmp_path, "new.json", tool("b"))
    code, document = as_json([old, new], capsys)
    assert code == 1
    assert [(fault["side"], fault["name"]) for fault in document["faults"]] == [("old", "#1")]
    assert [(rename["old"], rename["new"], rename["exact"]) for rename in document["renames"]] == [
        ("a", "b", True)
    ]


def test_nothing_of_a_server_reaches_the_terminal_unescaped(tmp_path: Path, capsys: Captured) -> None:
    hostile = "\x1b[2J\r\u202e\u200b\U000e0041\u2028"
    old = listing(
        tmp_path, "old.json", tool("a", description="x"), tool(f"n{hostile}"), {"name": 1, hostile: hostile}
    )
    new = listing(
        tmp_path,
        "new.json",
        tool("a", description=f"x{hostile}\nequal: all is well", **{hostile: [hostile]}),
        tool(hostile),
    )
    assert main(["diff", old, new]) == 1
    shown = capsys.readouterr().out
    assert not any(character in shown for character in hostile if character not in "[2J")
    assert "\\u{1b}[2J\\u{d}\\u{202e}\\u{200b}\\u{e0041}" in shown
    assert not any(line.startswith("equal") for line in shown.splitlines()), (
        "no text passes for a line of ours"
    )


def test_words_that_changed_are_marked_and_long_unchanged_text_is_cut(
    tmp_path: Path, capsys: Captured
) -> None:
    much = "Reads what is there. " * 50
    old = listing(tmp_path, "old.json", tool(description=f"{much}It returns text. {much}"))
    new = listing(tmp_path, "new.json", tool(description=f"{much}It sends text. {much}"))
    assert main(["diff", old, new]) == 1
    shown = capsys.readouterr().out
    assert "It [-returns-]{+sends+} text." in shown
    assert shown.count("unchanged characters") == 2
    assert len(shown) < 1000


def test_a_look_alike_letter_is_spelled_out(tmp_path: Path, capsys: Captured) -> None:
    old = listing(tmp_path, "old.json", tool(description="Read it"), tool("copy"))
    new = listing(tmp_path, "new.json", tool(description="Re\u0430d it"), tool("c\u043epy"))
    assert main(["diff", old, new]) == 1
    shown = capsys.readouterr().out
    assert "{+Re\\u{430}d+}" in shown
    assert "c\\u{43e}py" in shown


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"not json", 4), (b'{"tools": [], "nextCursor": "x"}', 4), (None, 2)],
)
def test_what_cannot_be_compared_ends_with_its_own_code(
    content: bytes | None, code: int, tmp_path: Path, capsys: Captured
) -> None:
    good = listing(tmp_path, "good.json", tool())
    bad = tmp_path / "bad.json"
    if content is not None:
        bad.write_bytes(content)
    for pair in ([good, str(bad)], [str(bad), good]):
        assert main(["diff", *pair]) == code
        shown = capsys.readouterr()
        assert shown.out == ""
        assert shown.err.startswith("error: ")


def test_the_file_that_is_wrong_is_named(tmp_path: Path, capsys: Captured) -> None:
    good, bad, lock = listing(tmp_path, "a.json", tool()), tmp_path / "bad.json", tmp_path / "x.lock"
    bad.write_bytes(b"{")
    lock.write_text('{"schema":"https://toolnotary.dev/lockfile/v1"}', encoding="utf-8")
    captured = manifest(tmp_path, "m.json", default=surface(tool()))
    sources = {f"{bad}": bad, f"{good}+{bad}": bad, f"{bad}+{good}": bad, f"{lock}": lock}
    for source, wrong in {**sources, f"{good}+{captured}": captured}.items():
        for pair in ([good, source], [source, good]):
            assert main(["diff", *pair]) == 4
            told = capsys.readouterr().err
            assert f": {wrong}" in told
            assert told.count(str(tmp_path)) == 1, told


def test_what_is_wrong_with_files_together_is_told_of_all_of_them(tmp_path: Path, capsys: Captured) -> None:
    one, two = listing(tmp_path, "a.json", tool()), listing(tmp_path, "b.json", tool())
    assert main(["diff", f"{one}+{two}", one]) == 4
    assert f"listing-shape: {one}+{two}: " in capsys.readouterr().err


def test_a_published_version_without_a_registry_is_a_configuration_error(
    tmp_path: Path, capsys: Captured
) -> None:
    assert main(["diff", "acme/x@1", listing(tmp_path, "a.json", tool())]) == 2
    assert capsys.readouterr().err.startswith("error: no-registry: ")


@pytest.mark.parametrize("given", ["option", "variable", "policy"])
def test_the_registry_is_named_by_option_variable_or_policy(
    given: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "http://127.0.0.1:9"
    arguments = ["diff", "acme/x@1", listing(tmp_path, "a.json", tool()), "--offline"]
    if given == "option":
        arguments += ["--registry", url]
    elif given == "variable":
        monkeypatch.setenv("TOOLNOTARY_REGISTRY", url)
    else:
        policy = tmp_path / "policy.toml"
        policy.write_text(f'[registry]\nurl = "{url}"\n', encoding="utf-8")
        arguments += ["--policy", str(policy)]
    assert main(arguments) == 3
    assert capsys.readouterr().err.startswith("error: offline: ")


def test_a_live_server_is_compared_with_a_saved_listing(tmp_path: Path, capsys: Captured) -> None:
    server = tmp_path / "server.py"
    server.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if 'id' not in message: continue\n"
        "    if message['method'] == 'initialize':\n"
        "        result = {'protocolVersion': message['params']['protocolVersion'],"
        " 'capabilities': {'tools': {}}, 'serverInfo': {'name': 's', 'version': '1'}}\n"
        "    elif message['method'] == 'tools/list':\n"
        f"        result = {{'tools': [{tool()!r}]}}\n"
        "    else:\n"
        "        print(json.dumps({'jsonrpc': '2.0', 'id': message['id'],"
        " 'error': {'code': -32601, 'message': 'no'}}), flush=True); continue\n"
        "    print(json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'result': result}), flush=True)\n",
        encoding="utf-8",
    )
    live = f"stdio:'{sys.executable}' '{server}'"
    assert as_json([live, listing(tmp_path, "same.json", tool())], capsys)[0] == 0
    code, document = as_json([listing(tmp_path, "other.json", tool(title="T")), live], capsys)
    assert (code, [finding["path"] for finding in document["findings"]]) == (1, ["/title"])


def test_manifests_are_compared_profile_by_profile(tmp_path: Path, capsys: Captured) -> None:
    old = manifest(tmp_path, "old.json", default=surface(tool()), legacy=surface(tool(x=1)))
    new = manifest(tmp_path, "new.json", default=surface(tool()), legacy=surface(tool(x=2)))
    code, document = as_json([old, new], capsys)
    assert code == 1
    assert [(finding["path"], finding["profiles"]) for finding in document["findings"]] == [
        ("/x", ["legacy"])
    ]
    assert main(["diff", f"{old}#default", f"{new}#default"]) == 0
    capsys.readouterr()


def test_one_change_in_several_profiles_is_told_once(tmp_path: Path, capsys: Captured) -> None:
    old = manifest(tmp_path, "old.json", default=surface(tool(x=1)), legacy=surface(tool(x=1)))
    new = manifest(tmp_path, "new.json", default=surface(tool(x=2)), legacy=surface(tool(x=2)))
    _, document = as_json([old, new], capsys)
    assert [finding["profiles"] for finding in document["findings"]] == [["default", "legacy"]]


def test_a_profile_that_only_one_manifest_has_is_a_difference(tmp_path: Path, capsys: Captured) -> None:
    old = manifest(tmp_path, "old.json", default=surface(tool()))
    new = manifest(tmp_path, "new.json", default=surface(tool()), legacy=surface(tool()))
    code, document = as_json([old, new], capsys)
    assert (code, document["profiles"]["onlyNew"], document["findings"]) == (1, ["legacy"], [])


def test_two_profiles_that_are_named_are_compared_whatever_they_are_called(
    tmp_path: Path, capsys: Captured
) -> None:
    one = manifest(
        tmp_path, "m.json", default=surface(tool()), same=surface(tool()), other=surface(tool(x=1))
    )
    code, document = as_json([f"{one}#default", f"{one}#same"], capsys)
    assert (code, document["old"], document["new"]) == (0, f"{one}#default", f"{one}#same")
    code, document = as_json([f"{one}#default", f"{one}#other"], capsys)
    assert code == 1
    assert document["profiles"] == {"compared": [], "onlyOld": [], "onlyNew": []}
    assert [(found["path"], "profiles" in found) for found in document["findings"]] == [("/x", False)]


def test_a_profile_that_is_named_is_compared_with_its_namesake_else_with_the_nearest(
    tmp_path: Path, capsys: Captured
) -> None:
    old = manifest(tmp_path, "old.json", default=surface(tool(x=1)), mine=surface(tool(x=2)))
    new = manifest(tmp_path, "new.json", default=surface(tool(x=2)), legacy=surface(tool(x=1)))
    for pair in ([f"{old}#default", new], [new, f"{old}#default"]):
        code, document = as_json(pair, capsys)
        assert (code, document["profiles"]) == (1, {"compared": ["default"], "onlyOld": [], "onlyNew": []})
    assert as_json([f"{old}#mine", new], capsys)[0] == 0
    assert as_json([listing(tmp_path, "l.json", tool(x=1)), f"{old}#mine"], capsys)[0] == 1


def test_profiles_with_several_definitions_of_a_name_are_equal_only_if_all_are(
    tmp_path: Path, capsys: Captured
) -> None:
    both = [surface(tool(x=1)), surface(tool(x=2))]
    held = manifest(tmp_path, "m.json", default=both, same=both, less=surface(tool(x=1)))
    assert main(["diff", f"{held}#default", f"{held}#same"]) == 0
    for pair in ("default", "less"), ("less", "default"):
        assert main(["diff", *(f"{held}#{name}" for name in pair)]) == 1
    capsys.readouterr()


def test_a_listing_is_compared_with_the_profile_it_fits_best(tmp_path: Path, capsys: Captured) -> None:
    several = manifest(tmp_path, "m.json", default=surface(tool(x=1)), legacy=surface(tool(x=2), tool("b")))
    assert main(["diff", several, listing(tmp_path, "a.json", tool(x=1))]) == 0
    assert main(["diff", listing(tmp_path, "b.json", tool(x=2), tool("b")), several]) == 0
    capsys.readouterr()
    _, document = as_json([several, listing(tmp_path, "c.json", tool(x=3), tool("b"))], capsys)
    assert document["profiles"]["compared"] == ["legacy"]
    assert [finding["path"] for finding in document["findings"]] == ["/x"]


def test_any_of_several_definitions_of_a_name_equals_the_one_that_was_seen(
    tmp_path: Path, capsys: Captured
) -> None:
    unstable = manifest(tmp_path, "m.json", default=[surface(tool(x=1)), surface(tool(x=2))])
    for x, code in ((1, 0), (2, 0), (3, 1)):
        assert main(["diff", unstable, listing(tmp_path, f"{x}.json", tool(x=x))]) == code
    capsys.readouterr()


def test_a_manifest_with_fewer_definitions_of_a_name_differs(tmp_path: Path, capsys: Captured) -> None:
    two = manifest(tmp_path, "two.json", default=[surface(tool(x=1)), surface(tool(x=2))])
    one = manifest(tmp_path, "one.json", default=surface(tool(x=1)))
    assert main(["diff", two, two]) == 0
    for pair in ([two, one], [one, two]):
        assert main(["diff", *pair]) == 1
    capsys.readouterr()


def test_what_differs_beside_the_definitions_is_noted(tmp_path: Path, capsys: Captured) -> None:
    parts = []
    for version in ("1", "2"):
        path = tmp_path / f"{version}.json"
        path.write_text(
            json.dumps([{"serverInfo": {"name": "s", "version": version}}, {"tools": [tool()]}]),
            encoding="utf-8",
        )
        parts.append(str(path))
    code, document = as_json(parts, capsys)
    assert code == 0
    assert any("/version" in note for note in document["notes"])


def test_without_the_extra_a_difference_ends_with_two_and_names_it(tmp_path: Path) -> None:
    old, new = listing(tmp_path, "old.json", tool(x=1)), listing(tmp_path, "new.json", tool(x=2))
    code = (
        "import sys; sys.modules['deepdiff'] = None; from toolnotary_cli.main import main\n"
        "sys.exit(main(['diff', *sys.argv[1:]]))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, old, new], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert "toolnotary[review]" in ended.stderr
