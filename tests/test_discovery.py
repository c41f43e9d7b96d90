"""From paths to files: bad paths, what is left out, what is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuronlint.discovery import Discovery, discover, excluded

MODEL = "import torch\nclass Net(torch.nn.Module):\n    pass\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: str, text: str | bytes = MODEL) -> None:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())


def test_a_missing_path_is_a_problem_and_the_rest_goes_on() -> None:
    write("a.py")
    found = discover(["nope.py", "a.py"])
    assert [file.path for file in found.files] == ["a.py"]
    assert found.problems == ("nope.py: no such file or directory; check the spelling, or the directory you are in",)


def test_a_directory_without_python_is_a_problem() -> None:
    write("data/readme.md", "text")
    assert "no Python files" in discover(["data"]).problems[0]


def test_a_file_that_is_not_python_is_a_problem() -> None:
    write("readme.md", "text")
    assert "not a Python file" in discover(["readme.md"]).problems[0]


def test_folders_of_tools_and_excluded_ones_are_not_walked() -> None:
    for path in (
        "a.py",
        "pkg/b.py",
        ".venv/c.py",
        "build/d.py",
        "x.egg-info/e.py",
        "gen/f.py",
        "pkg/gen/g.py",
        "pkg/h_pb2.py",
    ):
        write(path)
    found = discover(["."], exclude=["gen/", "*_pb2.py"])
    assert [file.path for file in found.files] == ["a.py", "pkg/b.py"]


def test_a_path_given_by_name_is_checked_in_any_folder_and_once() -> None:
    write("build/d.py")
    assert [file.path for file in discover(["build/d.py", "build", "./build/d.py"]).files] == ["build/d.py"]


def test_a_script_without_suffix_is_python() -> None:
    write("train", "import torch\ntorch.manual_seed(0)\n")
    assert [file.path for file in discover(["train"]).files] == ["train"]


def test_notebooks_are_found_and_their_checkpoints_are_not() -> None:
    write("book.ipynb", "{}")
    write(".ipynb_checkpoints/book-checkpoint.ipynb", "{}")
    assert [file.path for file in discover(["."]).files] == ["book.ipynb"]


def test_what_git_ignores_is_not_walked_but_checked_by_name() -> None:
    write(".gitignore", "gen/\n*_old.py\n")
    for path in ("a.py", "b_old.py", "gen/c.py", "pkg/gen/d.py"):
        write(path)
    assert [file.path for file in discover(["."]).files] == ["a.py"]
    assert [file.path for file in discover(["b_old.py"]).files] == ["b_old.py"]


def test_exclude_holds_for_names_only_where_it_is_forced() -> None:
    write("gen/a.py")
    assert len(discover(["gen/a.py"], ["gen"]).files) == 1
    assert discover(["gen/a.py"], ["gen"], force_exclude=True) == Discovery(())


def test_packages_and_stamps() -> None:
    for path in ("pkg/__init__.py", "pkg/sub/__init__.py", "pkg/sub/m.py", "loose.py"):
        write(path)
    found = discover(["."])
    assert found.packages == {"pkg", "pkg/sub"}
    assert all(file.stamp and file.stamp[1] == len(MODEL) for file in found.files)


def test_a_loop_of_links_ends() -> None:
    write("pkg/a.py")
    Path("pkg/self").symlink_to(Path("pkg").absolute())
    assert [file.path for file in discover(["pkg"]).files] == ["pkg/a.py"]


def test_a_dangling_link_is_listed() -> None:
    write("ok.py")
    Path("dangling.py").symlink_to("gone.py")
    assert [(file.path, file.stamp is None) for file in discover(["."]).files] == [
        ("dangling.py", True),
        ("ok.py", False),
    ]


def test_a_folder_with_the_name_of_a_file_is_walked() -> None:
    write("odd.py/inner.py")
    assert [file.path for file in discover(["odd.py"]).files] == ["odd.py/inner.py"]


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("a/b/c.py", "b", True), ("a/b/c.py", "a/b", True), ("a/b/c.py", "*.py", True), ("a/b/c.py", "a/*/c.py", True),
        ("a/b/c.py", "c", False), ("a/b/c.py", "b/c.py", False), ("ab/c.py", "a", False),
    ],
)  # fmt: skip
def test_excluded(path: str, pattern: str, expected: bool) -> None:
    assert excluded(path, [pattern]) is expected
