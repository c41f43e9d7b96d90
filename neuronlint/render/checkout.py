"""The repository that a run stands in: hosts want paths from its root, and SARIF its address and revision."""

from __future__ import annotations

import os
import posixpath
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_SCP = re.compile(r"^(?:[^@/]+@)?([\w.-]+):(?!/)(.+)$")


@dataclass(frozen=True, slots=True)
class Checkout:
    """`prefix` is the working directory from the root, ending in `/` unless it is the root; the rest may be empty."""

    prefix: str = ""
    repository: str = ""
    revision: str = ""
    branch: str = ""

    def path(self, path: str) -> str:
        """A path as reports show it, from the root of the repository."""
        if not self.prefix or posixpath.isabs(path):
            return path
        return posixpath.normpath(self.prefix + path)


def checkout() -> Checkout:
    """What the CI service says, else what git says; nothing of either is no error."""
    env = os.environ
    if env.get("GITHUB_ACTIONS") and env.get("GITHUB_REPOSITORY"):
        address = f"{env.get('GITHUB_SERVER_URL', 'https://github.com')}/{env['GITHUB_REPOSITORY']}"
        return _from_ci(env, "GITHUB_WORKSPACE", address, "GITHUB_SHA", "GITHUB_REF_NAME")
    if env.get("GITLAB_CI") and env.get("CI_PROJECT_URL"):
        return _from_ci(env, "CI_PROJECT_DIR", env["CI_PROJECT_URL"], "CI_COMMIT_SHA", "CI_COMMIT_REF_NAME")
    where = _git("rev-parse", "--show-prefix")
    if where is None:
        return Checkout()
    revision, branch = _git("rev-parse", "HEAD") or "", _git("symbolic-ref", "--short", "-q", "HEAD") or ""
    return Checkout(where, web_address(_git("config", "--get", "remote.origin.url") or ""), revision, branch)


def web_address(remote: str) -> str:
    """A remote as an https address without user or password; empty where it is a folder."""
    if match := _SCP.match(remote):
        remote = f"https://{match[1]}/{match[2]}"
    match = re.match(r"^(?:https?|ssh|git)://(?:[^@/]*@)?([\w.-]+(?::\d+)?)/(.+)$", remote)
    return f"https://{match[1]}/{match[2].removesuffix('.git')}" if match else ""


def _from_ci(env: Mapping[str, str], root: str, address: str, revision: str, branch: str) -> Checkout:
    return Checkout(_prefix(env.get(root, "")), address, env.get(revision, ""), env.get(branch, ""))


def _prefix(root: str) -> str:
    """The working directory from the root; empty where it is not below it."""
    if not root:
        return ""
    try:
        inside = Path.cwd().resolve().relative_to(Path(root).resolve()).as_posix()
    except (OSError, ValueError):
        return ""
    return "" if inside == "." else f"{inside}/"


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments],  # noqa: S607 - the user's own git, from the path
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip("\n") if done.returncode == 0 else None
