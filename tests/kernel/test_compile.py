"""Where compiled code is kept, and what the user hears while it is made."""

from __future__ import annotations

import stat
import time

import pytest

from ur_admittance.kernel import compile as compiling


@pytest.fixture(autouse=True)
def forget_the_folder():
    compiling.cache_directory.cache_clear()
    yield
    compiling.cache_directory.cache_clear()


def test_the_cache_is_named_after_the_source_so_that_no_change_goes_unnoticed(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("UR_ADMITTANCE_CACHE", str(tmp_path))
    folder = compiling.cache_directory()
    assert folder.parent == tmp_path
    assert folder.is_dir()
    compiling.cache_directory.cache_clear()
    monkeypatch.setattr(compiling.numba, "__version__", "another")
    assert compiling.cache_directory() != folder


def test_where_no_cache_can_be_written_a_folder_of_our_own_serves(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("UR_ADMITTANCE_CACHE", str(tmp_path / "file" / "cache"))
    folder = compiling.cache_directory()
    assert folder.is_dir()
    assert tmp_path not in folder.parents
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700, "nobody else may put code there"


def test_a_user_without_a_home_can_compile_too(monkeypatch):
    for name in ("UR_ADMITTANCE_CACHE", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)

    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(compiling.Path, "home", homeless)
    assert compiling.cache_directory().is_dir()


def test_a_long_compilation_says_that_it_is_under_way_and_how_long_it_took(capsys):
    with compiling.announced("a thing"):
        time.sleep(1.8)
    said = capsys.readouterr().err
    assert "compiling a thing, once on this machine" in said
    assert "compiled in" in said


def test_code_that_is_there_already_is_not_spoken_of(capsys):
    with compiling.announced("a thing"):
        pass
    assert capsys.readouterr().err == ""
