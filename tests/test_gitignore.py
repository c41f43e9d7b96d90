"""What git would ignore: judged by git itself, over generated patterns and trees."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neuronlint.gitignore import Ignores

TREE = ("a.py", "b.py", "a b.py", "a/a.py", "a/b.py", "a/b/a.py", "a/b/ab/b.py", "b/a.py", "b/a/b.py", "ab/a/a.py")


def git(folder: Path, *arguments: str, text: str = "") -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = clean | {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-c", "core.excludesFile=", *arguments]
    done = subprocess.run(command, cwd=folder, input=text, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def plant(root: Path, files: tuple[str, ...] = TREE) -> Path:
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


def write(root: Path, patterns: dict[str, str]) -> None:
    for name, text in patterns.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())


def walk(root: Path, ignores: Ignores | None = None, folder: str = "") -> list[str]:
    """The paths below a root that are not ignored, as discovery walks it."""
    entries = sorted(os.scandir(root / folder), key=lambda entry: entry.name)
    ignores = (ignores or Ignores.at(root)).enter(folder, {entry.name for entry in entries})
    found = []
    for entry in entries:
        path = f"{folder}/{entry.name}" if folder else entry.name
        if entry.name in (".git", ".gitignore") or ignores.ignored(path, entry.is_dir()):
            continue
        found.append(path)
        if entry.is_dir():
            found += walk(root, ignores, path)
    return sorted(found)


def by_git(root: Path) -> list[str]:
    """The same by `git check-ignore`."""
    every = [path.relative_to(root).as_posix() for path in root.rglob("*")]
    every = sorted(path for path in every if not {".git", ".gitignore"} & set(path.split("/")))
    gone = git(root, "check-ignore", "-z", "--no-index", "--stdin", text="".join(f"{path}\0" for path in every))
    return [path for path in every if path not in gone.split("\0")]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    return plant(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# a.py\n\n   \n",
        "a.py",
        "/a.py",
        "a/",
        "b.py/",
        "/a/b/",
        "a/b.py",
        "*.py\n!b.py",
        "!b.py\n*.py",
        "*\n!*/\n!a.py",
        "/*\n!/a",
        "a/*\n!a/b",
        "a/**\n!a/b/\n!a/b/a.py",
        "**/b.py",
        "a/**/b.py",
        "**",
        "**/",
        "*/",
        "!*/",
        "a/b/**/",
        "a/\n!a/b",
        "a?\nb?",
        "[!a].py",
        "[ab].py",
        "[b-",
        "a b.py   ",
        "a\\ b.py",
        "a.py \\ ",
        "\\a.py",
        "\\!a",
        "a.py\r\nb/\r\n",
        "\ufeffa.py\nb.py",
        "/",
        "!",
        "!/",
        "//",
        "a.*\n*.log\nbuild/\n__pycache__/\n*.py[cod]\n",
        "*.py\n!b/\n",
        "*b*\n!ab",
    ],
)
def test_one_file_of_patterns_means_what_git_says(repository: Path, text: str) -> None:
    write(repository, {".gitignore": text})
    assert walk(repository) == by_git(repository)


@pytest.mark.parametrize(
    "patterns",
    [
        {".gitignore": "*.py", "a/.gitignore": "!b.py"},
        {".gitignore": "a/b", "a/.gitignore": "!b"},
        {".gitignore": "*.py", "a/.gitignore": "!b/"},
        {".gitignore": "!a.py", ".git/info/exclude": "a.py\nb/"},
        {"a/.gitignore": "*\n!.gitignore", "a/b/.gitignore": "!*"},
        {"a/.gitignore": "/b.py\nb/a.py"},
        {"a/b/.gitignore": "*", ".gitignore": "!a.py"},
    ],
)
def test_nested_files_mean_what_git_says(repository: Path, patterns: dict[str, str]) -> None:
    write(repository, patterns)
    assert walk(repository) == by_git(repository)


segments = st.sampled_from(["a", "b", "ab", "a.py", "b.py", "*", "**", "a*", "*.py", "?", "[ab]", "[!a]*", "*b*"])
lines = st.builds(
    lambda no, start, parts, end: no + start + "/".join(parts) + end,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(segments, min_size=1, max_size=3),
    st.sampled_from(["", "", "/", " "]),
)
files = st.lists(lines, max_size=5).map("\n".join)
places = st.sampled_from([".gitignore", "a/.gitignore", "a/b/.gitignore", "b/.gitignore", ".git/info/exclude"])


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(places, files, max_size=3))
def test_generated_patterns_mean_what_git_says(repository: Path, patterns: dict[str, str]) -> None:
    empty = dict.fromkeys([".gitignore", "a/.gitignore", "a/b/.gitignore", "b/.gitignore", ".git/info/exclude"], "")
    write(repository, empty | patterns)
    assert walk(repository) == by_git(repository)


def test_a_tree_without_patterns_costs_no_object_and_no_import(tmp_path: Path) -> None:
    start = Ignores.at(tmp_path)
    assert start.enter("", {"a.py", "a"}) is start
    assert start.enter("a", ()) is start
    (tmp_path / ".gitignore").write_text("# nothing\n")
    code = f"""if True:
        import sys
        from neuronlint.gitignore import Ignores
        ignores = Ignores.at({str(tmp_path)!r}).enter("", {{".gitignore"}})
        assert not ignores.ignored("a.py") and not ignores.layers
        print("pathspec" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_walk_that_starts_in_a_folder_obeys_the_files_above_it(repository: Path) -> None:
    write(repository, {".gitignore": "/a/b/a.py\nb.py", "a/.gitignore": "!b.py", ".git/info/exclude": "ab"})
    assert walk(repository / "a" / "b") == []
    assert walk(repository / "a") == ["a.py", "b", "b.py"]


def test_an_ignored_folder_given_by_name_is_walked(repository: Path) -> None:
    write(repository, {".gitignore": "/a/"})
    assert "a" not in walk(repository)
    assert "a.py" in walk(repository / "a")


def test_outside_a_repository_only_files_from_the_root_down_count(tmp_path: Path) -> None:
    plant(tmp_path)
    write(tmp_path, {".gitignore": "*.py", "a/.gitignore": "b"})
    assert walk(tmp_path / "a") == ["a.py", "b.py"]


def test_a_repository_inside_follows_its_own_patterns(repository: Path) -> None:
    write(repository, {".gitignore": "a.py"})
    git(repository / "a", "init", "--quiet")
    write(repository / "a", {".git/info/exclude": "b.py"})
    assert [path for path in walk(repository) if path.startswith("a/")] == ["a/a.py", "a/b", "a/b/a.py", "a/b/ab"]


def test_a_further_work_tree_shares_the_exclude_file(tmp_path: Path) -> None:
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "--quiet")
    author = ("-c", "user.name=a", "-c", "user.email=a@b")
    git(main, *author, "commit", "--quiet", "--allow-empty", "--message", "start")
    git(main, "worktree", "add", "--quiet", str(tmp_path / "second"))
    write(main, {".git/info/exclude": "b.py"})
    second = plant(tmp_path / "second", ("a.py", "b.py"))
    assert walk(second) == ["a.py"] == by_git(second)


def test_a_git_file_that_points_nowhere_and_patterns_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    plant(tmp_path, ("a.py", "a/a.py"))
    (tmp_path / ".git").write_text("gitdir: /nowhere/at/all\n")
    (tmp_path / ".gitignore").mkdir()
    assert walk(tmp_path) == ["a", "a.py", "a/a.py"]


def test_names_that_are_not_utf8_are_matched(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_bytes(b"\xff.py\n")
    ignores = Ignores.at(tmp_path).enter("", {".gitignore"})
    assert ignores.ignored(os.fsdecode(b"\xff.py"))
    assert not ignores.ignored("a.py")
