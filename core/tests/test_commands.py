"""A shell command counts as what its programs do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.stock.commands import purpose_of


@pytest.mark.parametrize(
    ("command", "purpose"),
    [
        ("cat src/app.py", "read"),
        ("cd /srv && sed -n '1,200p' src/app.py", "read"),
        ("sed -n 1,20p a.py; sed -n 40,60p a.py", "read"),
        ("/usr/bin/head -n 50 notes.md 2>/dev/null", "read"),
        ("bash -lc 'nl -ba src/app.py | head -n 80'", "read"),
        ("LC_ALL=C sudo timeout 10 cat /etc/hosts", "read"),
        ("Get-Content .\\app.ps1", "read"),
        ("rg -n 'def main|class App' src", "search"),
        ("git -P grep -n heron", "search"),
        ('grep -rn "a;b && c > d" .', "search"),
        ("ls -la src && ls docs", "list"),
        ("find . -name '*.py'", "list"),
        ("sed -i s/a/b/ app.py", "terminal"),
        ("cat a.py > b.py", "terminal"),
        ("cat <<EOF\nx\nEOF", "terminal"),
        ("cat a.py && rm a.py", "terminal"),
        ("ls && cat a.py", "terminal"),
        ("pytest -q | tail -n 20", "terminal"),
        ("cd /srv", "terminal"),
        ("", "terminal"),
        (["bash", "-lc", "cat src/app.py"], "read"),
        (["cat", "src/app.py"], "read"),
        (17, "terminal"),
        ([None, {}], "terminal"),
    ],
)
def test_purpose_of_a_command(command, purpose):
    assert purpose_of({"command": command}) == purpose


@given(st.text(alphabet="cat -|&;>\"'\\\n$x=`", max_size=60) | st.lists(st.text(max_size=9)))
def test_no_command_is_too_odd(command):
    assert purpose_of({"cmd": command}) in ("read", "search", "list", "terminal")
