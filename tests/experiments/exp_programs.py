# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Debian's programs, free kin of those of SPEC CPU 2006, each with a generated input that takes it seconds to simulate."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import NamedTuple

from exp_frame import Missing
from exp_lab import HERE, Broken, Dialog, Input, Lab

sys.path.insert(0, str(HERE.parent / "bench"))

import bench_programs as bench


class Program(NamedTuple):
    name: str
    kin: str  # of SPEC's program
    published: str  # DTLB misses with pages of 64K, in percent of those with pages of 4K
    command: list[str]
    stdin: Input = None


def from_bench(lab: Lab, name: str, quick: bool = True) -> tuple[list[str], Path | None]:
    try:
        return bench.ALL[name].make(bench.Place(lab.folder, quick))
    except bench.Missing as missing:
        raise Missing(str(missing)) from None


def bench_text(lab: Lab, megabytes: int) -> Path:
    return bench.Place(lab.folder, False).text(megabytes)


# ---------------------------------------------------------------- inputs


def hmmer(lab: Lab) -> list[str]:
    """Proteins in which to look for a family, and the model of the family."""
    rng = random.Random(4)
    letters = "ACDEFGHIKLMNPQRSTVWY"

    def protein(length: int) -> str:
        return "".join(letters[int(rng.random() * len(letters))] for _ in range(length))

    def changed(text: str, share: float) -> str:
        return "".join(protein(1) if rng.random() < share else letter for letter in text)

    family = protein(150)
    alignment = lab.write("family.afa", "".join(f">s{i}\n{changed(family, 0.3)}\n" for i in range(30)))
    proteins: list[str] = []
    for i in range(2000):
        text = protein(100 + int(rng.random() * 400))
        hidden = changed(family, 0.4) if i % 10 == 0 else ""
        proteins.append(f">q{i}\n{text[:50]}{hidden}{text[50:]}\n")
    database = lab.write("proteins.fa", "".join(proteins))
    model = lab.folder / "family.hmm"
    lab.call([lab.need("hmmbuild", "hmmer"), "--cpu", "0", model, alignment])
    return [lab.need("hmmsearch", "hmmer"), "--cpu", "0", "--seed", "1", str(model), str(database)]


# By depth, not by time. It would stop thinking at the next input.
SJENG = Dialog("xboard\nsd 8\nst 1000000\ngo\n", "move ", "quit\n")


SHEET = """<?xml version="1.0"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:output method="html"/>
<xsl:key name="by-place" match="item" use="@place"/>
<xsl:template match="/">
<html><xsl:for-each select="//item[generate-id() = generate-id(key('by-place', @place)[1])]">
<xsl:sort select="@place"/>
<h1><xsl:value-of select="@place"/></h1>
<p><xsl:value-of select="count(key('by-place', @place))"/> of <xsl:value-of select="sum(key('by-place', @place)/@price)"/></p>
<ul><xsl:apply-templates select="key('by-place', @place)"><xsl:sort select="name"/></xsl:apply-templates></ul>
</xsl:for-each></html>
</xsl:template>
<xsl:template match="item">
<xsl:if test="contains(name, 'a') and string-length(name) &gt; 4">
<li><xsl:value-of select="translate(name, 'abc', 'ABC')"/>: <xsl:value-of select="@price * 2"/></li>
</xsl:if>
</xsl:template>
</xsl:stylesheet>
"""


def xalan(lab: Lab) -> list[str]:
    rng = random.Random(5)

    def number(n: int) -> int:
        return int(rng.random() * n)

    items = [
        f'<item place="p{number(150)}" price="{number(1000)}"><name>{"".join(chr(97 + number(26)) for _ in range(3 + number(9)))}</name></item>\n'
        for _ in range(4000)
    ]
    document = lab.write("items.xml", f'<?xml version="1.0"?>\n<items>\n{"".join(items)}</items>\n')
    sheet = lab.write("items.xsl", SHEET)
    return [lab.need("xalan", "xalan"), "-in", str(document), "-xsl", str(sheet)]


def quantum(lab: Lab) -> Path:
    try:
        return lab.client("quantum", libraries=["-lquantum", "-lgomp", "-lm"])
    except Broken as error:
        raise Missing(f"quantum.c cannot be compiled (Debian package: libquantum-dev): {error}") from None


def programs(lab: Lab) -> list[Program]:
    """All of them. What is missing is named at once."""
    found: list[Program] = []
    missing: list[str] = []

    def add(name: str, kin: str, published: str, command: list[str], stdin: Input = None) -> None:
        found.append(Program(name, kin, published, command, stdin))

    for name, kin, published in (("bzip2", "bzip2", "25 %"), ("cc1", "gcc", ""), ("gnugo", "gobmk", "")):
        try:
            add(name, kin, published, *from_bench(lab, name))
        except Missing as error:
            missing.append(str(error))
    try:
        add("hmmsearch", "hmmer", "62 %", hmmer(lab))
    except Missing as error:
        missing.append(str(error))
    try:
        add("sjeng", "sjeng", "24 %", [lab.need("sjeng", "sjeng")], SJENG)
    except Missing as error:
        missing.append(str(error))
    try:
        add("xalan", "xalancbmk", "", xalan(lab))
    except Missing as error:
        missing.append(str(error))
    try:
        add("libquantum", "libquantum", "60 %", [str(quantum(lab)), "119"])
    except Missing as error:
        missing.append(str(error))
    if missing:
        raise Missing("; ".join(missing))
    return found
