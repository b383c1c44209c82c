# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The recipes for packages: this version, and all files that are installed, each in one package."""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["TG_BUILDDIR"])
SOURCE = Path(os.environ["TG_SRCDIR"])
VERSION = os.environ["TG_VERSION"]
MAKE = os.environ.get("MAKE", "make")

# Where distributions have their files; %{name} of the spec, as an argument of make without the dash.
DEBIAN_LIB = "/usr/lib/x86_64-linux-gnu"
RPM_FOLDERS = {
    "_bindir": "/usr/bin",
    "_datadir": "/usr/share",
    "_docdir": "/usr/share/doc",
    "_includedir": "/usr/include",
    "_libdir": "/usr/lib64",
    "_libexecdir": "/usr/libexec",
    "_mandir": "/usr/share/man",
}


def lines(name: str) -> list[str]:
    """What a file says, without its comments."""
    text = (SOURCE / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def installed(destination: Path) -> list[str]:
    return sorted("/" + str(path.relative_to(destination)) for path in destination.rglob("*") if not path.is_dir() or path.is_symlink())


def packages_of(files: list[str], lists: dict[str, list[str]]) -> None:
    """Each pattern is of some file, and each file is in one list."""
    found: dict[str, list[str]] = {file: [] for file in files}
    for package, patterns in lists.items():
        for pattern in patterns:
            of = [file for file in files if fnmatch.fnmatch(file, pattern) or fnmatch.fnmatch(file, pattern + "/*")]
            assert of, f"{package}: there is no {pattern}"
            for file in of:
                found[file].append(package)
    assert {file: where for file, where in found.items() if len(where) != 1} == {}


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("debian/changelog", rf"\Atlbgrind \({re.escape(VERSION)}-[0-9a-z]+\) "),
        ("packaging/tlbgrind.nix", rf'^  version = "{re.escape(VERSION)}";$'),
        ("packaging/tlbgrind.spec", rf"^Version: +{re.escape(VERSION)}$"),
    ],
)
def test_the_version_is_ours(name: str, form: str) -> None:
    assert len(re.findall(form, (SOURCE / name).read_text(encoding="utf-8"), re.MULTILINE)) == 1


def test_debian_packages_have_all_that_is_installed(tmp_path: Path) -> None:
    rules = "\n".join(lines("debian/rules"))
    arguments = re.findall(r"dh_auto_install .* -- (.*)", rules)[0].split()
    subprocess.run(
        [MAKE, "-s", "install", f"DESTDIR={tmp_path}", "prefix=/usr", f"libdir={DEBIAN_LIB}", *arguments],
        cwd=BUILD,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    files = installed(tmp_path)
    names = re.findall(r"^Package: (.*)$", "\n".join(lines("debian/control")), re.MULTILINE)
    lists = {name: ["/" + line for line in lines(f"debian/{name}.install")] for name in names}
    lists["none"] = ["/" + line for line in lines("debian/not-installed")]
    packages_of(files, lists)
    for line in lines("debian/tlbgrind.links"):
        target = "/" + line.split()[0]
        assert target in files or (target.endswith("-x86-linux") and os.environ["TG_HAVE_X86"] == "no")
    for name in ("tlbgrind.docs", "libtlbsim-dev.examples"):
        for pattern in lines(f"debian/{name}"):
            assert list(SOURCE.glob(pattern)), pattern
    assert os.access(SOURCE / "debian/rules", os.X_OK) and os.access(SOURCE / "debian/tests/profile", os.X_OK)


@pytest.mark.parametrize("awk", ["gawk", "mawk"])
@pytest.mark.parametrize(
    ("package", "least", "below"),
    [
        ("1:3.19.0-1", "1:3.19.0", "1:3.19.1~"),
        ("1:3.24.0-3+b1", "1:3.24.0", "1:3.24.1~"),
        ("1:3.27.1~rc1-2", "1:3.27.1~rc1", "1:3.27.2~"),
        ("3.28.9", "3.28.9", "3.28.10~"),
    ],
)
def test_the_debian_package_needs_its_valgrind(tmp_path: Path, awk: str, package: str, least: str, below: str) -> None:
    found = shutil.which(awk)
    assert found
    (tmp_path / "awk").symlink_to(found)
    query = tmp_path / "dpkg-query"
    query.write_text(f'#!/bin/sh\n[ "$*" = "-W -f \\${{Version}} valgrind" ] && echo "{package}"\n')
    query.chmod(0o755)
    done = subprocess.run(
        [MAKE, "-s", "-n", "-f", "debian/rules", "override_dh_gencontrol"],
        cwd=SOURCE,
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    assert f"'-Vvalgrind:Depends=valgrind (>= {least}), valgrind (<< {below})'" in done.stdout
    assert f"'-Vvalgrind:Built-Using=valgrind (= {package})'" in done.stdout


def test_rpm_packages_have_all_that_is_installed(tmp_path: Path) -> None:
    spec = "\n".join(lines("packaging/tlbgrind.spec"))
    folders = " ".join(f"{name[1:]}={path}" for name, path in RPM_FOLDERS.items() if name != "_docdir")
    macros = {**RPM_FOLDERS, "buildroot": str(tmp_path), "__make": f"{MAKE} -s prefix=/usr {folders}", "name": "tlbgrind"}

    def expanded(text: str) -> str:
        return re.sub(r"%\{(\w+)\}", lambda macro: macros[macro[1]], text)

    sections = re.split(r"^%(package|description|prep|build|install|check|post|postun|files)\b(.*)$", spec, flags=re.MULTILINE)
    named = [(sections[i], sections[i + 1].strip(), sections[i + 2]) for i in range(1, len(sections), 3)]
    (install,) = [body for section, _, body in named if section == "install"]
    subprocess.run(["sh", "-ec", expanded(install)], cwd=BUILD, stdout=subprocess.DEVNULL, check=True)
    lists: dict[str, list[str]] = {}
    for section, arguments, body in named:
        if section == "files":
            lists[arguments or "tlbgrind"] = re.findall(r"^(/.*)$", expanded(body), re.MULTILINE)
    packages_of(installed(tmp_path), lists)
    for line in re.findall(r"^%(?:doc|license) (.*)$", spec, re.MULTILINE):
        for pattern in line.split():
            assert list(SOURCE.glob(pattern)), pattern


def test_the_image_copies_what_there_is() -> None:
    text = "\n".join(lines("packaging/Containerfile")).replace("\\\n", " ")
    steps = [line.split(maxsplit=1) for line in text.splitlines()]
    assert {step[0] for step in steps} == {"ARG", "FROM", "RUN", "COPY", "WORKDIR", "ENTRYPOINT"}
    needed = {"autoconf", "automake", "gcc", "libc6-dev", "libtool", "make", "pkg-config", "python3", "valgrind"}
    installs = [set(rest.split()) for step, rest in steps if "apt-get install" in rest]
    assert len(installs) == 2 and needed <= installs[0] and {"gcc", "python3", "valgrind"} <= installs[1]
    assert [rest for step, rest in steps if step == "COPY"] == [". /tlbgrind", "--from=build /dest/usr/local /usr/local"]
    # Whatever configure the folder has, from whichever automake.
    assert [rest.split(" && ")[:2] for step, rest in steps if "configure --prefix" in rest] == [["cd /tlbgrind", "autoreconf -fi"]]


@pytest.mark.parametrize("awk", ["gawk", "mawk"])
@pytest.mark.parametrize(
    ("from_folder", "to"),
    [
        ("/usr/local/bin", "/usr/local/libexec/tlbgrind"),
        ("/bin", "/opt/x"),
        ("/usr/bin", "/usr/bin"),
        ("/a b/bin/", "//a b/./lib exec"),
        ("/usr/bin/../local/bin", "/usr/lib"),
        ("/", "/lib"),
        ("/a/b", "/"),
    ],
)
def test_the_way_from_the_launcher_to_the_tool(awk: str, from_folder: str, to: str) -> None:
    done = subprocess.run(
        [awk, "-f", SOURCE / "tlbgrind/relative.awk"],
        input=f"{from_folder}\n{to}\n",
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout == os.path.relpath(to, from_folder) + "\n"
