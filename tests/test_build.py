"""When the page is built, and that what is built finds its server anywhere."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from agui_app import build
from agui_app.build import BuildError, ensure_built, is_built, stamp, to_own_origin

ENV_CHUNK = (
    "var e={PING:`http://agui-app.invalid/ping`,EVENT:`ws://agui-app.invalid/_event`,TRANSPORT:`websocket`};"
    "export{e as t};"
)
OWN_ENV_CHUNK = (
    "var e={PING:location.protocol.replace(`http`,`http`)+`//`+location.host+`/ping`,"
    "EVENT:location.protocol.replace(`http`,`ws`)+`//`+location.host+`/_event`,TRANSPORT:`websocket`};"
    "export{e as t};"
)


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that has little in it, as the folder that the build works in."""
    for name in (
        "agui_app/pages/home.py",
        "agui_app/api/app.py",
        "assets/icon.svg",
        "rxconfig.py",
        "reflex.lock/a.json",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def bundle(monkeypatch: pytest.MonkeyPatch, *, env_chunk: str = ENV_CHUNK) -> list[str]:
    """Puts a small bundle where Reflex would, instead of a real one; gives back the list of the builds done."""
    done: list[str] = []

    def compile_and_bundle() -> None:
        done.append("built")
        assets = build.STATIC_DIR / "assets"
        assets.mkdir(parents=True, exist_ok=True)
        (build.STATIC_DIR / "index.html").write_text("<!doctype html>")
        (assets / "reflex-env-1.js").write_text(env_chunk)
        (assets / "reflex-env-1.js.gz").write_bytes(gzip.compress(env_chunk.encode()))

    monkeypatch.setattr(build, "_compile_and_bundle", compile_and_bundle)
    monkeypatch.setattr(build, "_build_in_child", build.build)
    return done


def test_the_first_start_builds_and_says_so_and_the_second_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    done, said = bundle(monkeypatch), list[str]()

    ensure_built(said.append)
    ensure_built(said.append)

    assert done == ["built"]
    assert said == [
        "building the page; the first time takes about half a minute, longer on a slow network",
        "the page is built (0 s)",
    ]


@pytest.mark.parametrize(
    "name", ["agui_app/pages/home.py", "assets/icon.svg", "assets/new.css", "rxconfig.py", "reflex.lock/a.json"]
)
def test_a_change_of_what_the_page_is_made_of_builds_again(
    monkeypatch: pytest.MonkeyPatch, project: Path, name: str
) -> None:
    done = bundle(monkeypatch)
    ensure_built(print)

    (project / name).write_text("2")

    assert not is_built()
    ensure_built(print)
    assert done == ["built", "built"]


def test_a_change_of_what_only_the_server_uses_builds_nothing(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    bundle(monkeypatch)
    ensure_built(print)

    (project / "agui_app/api/app.py").write_text("2")

    assert is_built()


def test_a_new_version_of_the_tools_builds_again(monkeypatch: pytest.MonkeyPatch) -> None:
    before = stamp()

    monkeypatch.setattr(build, "_versions", lambda: iter(["reflex 99"]))

    assert stamp() != before


def test_a_build_that_did_not_come_to_its_end_is_not_taken_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    bundle(monkeypatch)
    ensure_built(print)

    def killed() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(build, "_compile_and_bundle", killed)
    with pytest.raises(KeyboardInterrupt):
        build.build()

    assert not is_built()


def test_what_is_edited_during_a_build_is_built_at_the_next_start(
    monkeypatch: pytest.MonkeyPatch, project: Path
) -> None:
    bundle(monkeypatch)
    whole = build._compile_and_bundle

    def edited_meanwhile() -> None:
        whole()
        (project / "agui_app/pages/home.py").write_text("2")

    monkeypatch.setattr(build, "_compile_and_bundle", edited_meanwhile)
    build.build()

    assert not is_built()


def test_a_package_that_the_build_itself_locks_does_not_build_again(
    monkeypatch: pytest.MonkeyPatch, project: Path
) -> None:
    bundle(monkeypatch)
    whole = build._compile_and_bundle

    def locks_a_package() -> None:
        whole()
        (project / "reflex.lock/a.json").write_text("2")

    monkeypatch.setattr(build, "_compile_and_bundle", locks_a_package)
    build.build()

    assert is_built()


def test_the_built_page_calls_the_server_that_it_came_from_compressed_or_not(tmp_path: Path) -> None:
    (tmp_path / "reflex-env-1.js").write_text(ENV_CHUNK)
    (tmp_path / "reflex-env-1.js.gz").write_bytes(gzip.compress(ENV_CHUNK.encode()))
    (tmp_path / "other.js").write_text("export{}")

    to_own_origin(tmp_path)

    assert (tmp_path / "reflex-env-1.js").read_text() == OWN_ENV_CHUNK
    assert gzip.decompress((tmp_path / "reflex-env-1.js.gz").read_bytes()).decode() == OWN_ENV_CHUNK
    assert (tmp_path / "other.js").read_text() == "export{}"


@pytest.mark.parametrize(
    "env_chunk", ["export{}", ENV_CHUNK + "let a = `see http://agui-app.invalid`", ENV_CHUNK + "//agui-app.invalid"]
)
def test_a_build_whose_address_is_not_where_it_was_is_refused(monkeypatch: pytest.MonkeyPatch, env_chunk: str) -> None:
    bundle(monkeypatch, env_chunk=env_chunk)

    with pytest.raises(BuildError, match="the server's address was found"):
        build.build()

    assert not is_built()


def test_a_build_that_fails_tells_the_end_of_its_output_without_npms_chatter(project: Path) -> None:
    (project / "agui_app/build.py").write_text(
        "import sys\nfor n in range(100): print('line', n)\n"
        "for n in range(100): print('npm silly unfinished', n)\nsys.exit(3)\n"
    )
    (project / "agui_app/__init__.py").touch()

    with pytest.raises(BuildError) as failed:
        ensure_built(print)

    lines = failed.value.detail.splitlines()
    assert lines[0] == "the page could not be built; the end of the output:"
    assert lines[1:] == [f"line {n}" for n in range(60, 100)]


def test_a_build_leaves_no_address_in_the_lock_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    bundle(monkeypatch)
    build.PAGE_LOCK.write_text('{"packages": {"a": {"version": "1", "funding": {"url": "https://a.example"}}}}')

    build.build()

    assert build.PAGE_LOCK.read_text() == '{\n  "packages": {\n    "a": {\n      "version": "1"\n    }\n  }\n}\n'
    assert is_built()


def test_a_build_takes_node_from_this_python_environment_first() -> None:
    env = build.tools_env()

    assert Path(env["PATH"].split(":")[0]) == Path(build.sys.executable).parent
    assert env["NPM_CONFIG_REGISTRY"].startswith("http")


def test_a_build_without_npm_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build.shutil, "which", lambda *_args, **_kwargs: None)
    monkeypatch.delenv("NPM_CONFIG_REGISTRY", raising=False)

    with pytest.raises(BuildError, match="npm was not found"):
        build.tools_env()
