"""What is known of the repository around a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from neuronlint.render import checkout as module
from neuronlint.render.checkout import Checkout, checkout, web_address

if TYPE_CHECKING:
    from pathlib import Path

GITHUB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REPOSITORY": "me/repo",
    "GITHUB_SHA": "abc",
    "GITHUB_REF_NAME": "main",
}
GITLAB = {
    "GITLAB_CI": "true",
    "CI_PROJECT_URL": "https://gitlab.com/me/repo",
    "CI_COMMIT_SHA": "abc",
    "CI_COMMIT_REF_NAME": "main",
}


def test_nothing_is_known_outside_of_a_repository() -> None:
    assert checkout() == Checkout()


@pytest.mark.parametrize(
    ("variables", "root", "address"),
    [
        pytest.param(GITHUB, "GITHUB_WORKSPACE", "https://github.com/me/repo", id="github"),
        pytest.param(GITLAB, "CI_PROJECT_DIR", "https://gitlab.com/me/repo", id="gitlab"),
    ],
)
def test_a_ci_service_says_where_it_runs(
    variables: dict[str, str], root: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name, value in {**variables, root: str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    assert checkout() == Checkout("models/", address, "abc", "main")
    monkeypatch.setenv(root, str(tmp_path / "elsewhere"))
    assert checkout().prefix == ""


def test_git_says_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"rev-parse": "abc", "symbolic-ref": "main", "config": "git@github.com:me/repo.git"}
    monkeypatch.setattr(module, "_git", lambda *words: "lib/" if "--show-prefix" in words else said[words[0]])
    assert checkout() == Checkout("lib/", "https://github.com/me/repo", "abc", "main")


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("", ""),
        ("/srv/git/repo.git", ""),
        ("file:///srv/git/repo.git", ""),
        ("../repo", ""),
        ("git@github.com:me/repo.git", "https://github.com/me/repo"),
        ("github.com:me/repo", "https://github.com/me/repo"),
        ("https://github.com/me/repo.git", "https://github.com/me/repo"),
        ("https://me:secret@git.example.org:8443/me/repo", "https://git.example.org:8443/me/repo"),
        ("ssh://git@example.org/me/repo.git", "https://example.org/me/repo"),
    ],
)
def test_addresses_are_for_browsers_and_hold_no_secret(remote: str, address: str) -> None:
    assert web_address(remote) == address


@pytest.mark.parametrize(
    ("prefix", "path", "expected"),
    [
        ("", "../a.py", "../a.py"),
        ("src/", "a.py", "src/a.py"),
        ("src/", "../a.py", "a.py"),
        ("src/", "/abs/a.py", "/abs/a.py"),
    ],
)
def test_paths_from_the_root(prefix: str, path: str, expected: str) -> None:
    assert Checkout(prefix).path(path) == expected
