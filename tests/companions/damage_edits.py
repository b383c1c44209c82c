# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Edits that break a recorded file: what is replaced by what, and the complaint, after "FILE:"."""

from __future__ import annotations

Edits = dict[str, tuple[bytes, bytes, str]]

MAX = 2**64 - 1

# tests/annotate/data/two-level.out
OUT_FILE: Edits = {
    "first line": (
        b"# callgrind format\n",
        b"# some other format\n",
        "1: not an out-file: the first line is not '# callgrind format'",
    ),
    "version of callgrind's format": (
        b"version: 1",
        b"version: 2",
        "2: version '2' of callgrind's format, where only 1 is known",
    ),
    "newer format": (
        b"desc: Format: 1",
        b"desc: Format: 2",
        "7: format '2', where this tg_annotate knows only 1",
    ),
    "no events line": (b"\nevents: ", b"\n# events: ", "30: a cost line before 'events:'"),
    "second events line": (b"\nob=(1)", b"\nevents: Ir\nob=(1)", "27: a second 'events:'"),
    "no event": (
        b"events: Ir I1tm ILtm Dr D1tmr DLtmr Dw D1tmw DLtmw",
        b"events:",
        "25: 'events:' names none",
    ),
    "event twice": (b" Dr D1tmr DLtmr", b" Dr Dr DLtmr", "25: 'events:' names an event twice"),
    "odd event": (
        b"events: Ir I1tm",
        b"events: Ir I1-tm",
        "25: event 'I1-tm' is not a letter followed by letters and digits",
    ),
    "positions after events": (
        b"\nob=(1)",
        b"\npositions: line\nob=(1)",
        "27: a second 'positions:'",
    ),
    "unknown positions": (
        b"positions: line",
        b"positions: page",
        "15: positions 'page', where 'line', 'instr' or 'instr line' is allowed",
    ),
    "too few counts": (
        b"\n35 2 0 0 1 0 0 0 0 0\n",
        b"\n35 2 0 0 1 0 0 0 0\n",
        "32: 8 counts, where 'events:' names 9",
    ),
    "too many counts": (
        b"\n35 2 0 0 1 0 0 0 0 0\n",
        b"\n35 2 0 0 1 0 0 0 0 0 0\n",
        "32: 10 counts, where 'events:' names 9",
    ),
    "no counts": (b"\n35 2 0 0 1 0 0 0 0 0\n", b"\n35\n", "32: 0 counts, where 'events:' names 9"),
    "not a number": (
        b"\n35 2 0 0 1 0",
        b"\n35 2 0 0 x 0",
        "32: 'x' is not a number from 0 to 2^64-1",
    ),
    "number with an underscore, which Python would read": (
        b"\n35 2 0 0 1 0",
        b"\n35 2 0 0 1_0 0",
        "32: '1_0' is not a number from 0 to 2^64-1",
    ),
    "digit of another script, which Python would read": (
        b"\n35 2 0 0 1 0",
        b"\n35 2 0 0 \xd9\xa1 0",
        "32: '\u0661' is not a number from 0 to 2^64-1",
    ),
    "fraction": (
        b"\n35 2 0 0 1 0",
        b"\n35 2 0 0 1.5 0",
        "32: '1.5' is not a number from 0 to 2^64-1",
    ),
    "negative count": (
        b"\n35 2 0 0 1 0",
        b"\n35 2 0 0 -1 0",
        "32: '-1' is not a number from 0 to 2^64-1",
    ),
    "negative line": (
        b"\n35 2 0 0 1 0",
        b"\n-35 2 0 0 1 0",
        "32: position '-35' leads to -1, which is out of range",
    ),
    "too big": (
        b"\n35 2 0 0 1 0",
        b"\n35 2 0 0 18446744073709551616 0",
        "32: '18446744073709551616' is not a number from 0 to 2^64-1",
    ),
    "much too big": (
        b"\n35 2 0 0 1 0",
        b"\n35 2 0 0 " + b"9" * 5000 + b" 0",
        f"32: '{'9' * 40}' is not a number from 0 to 2^64-1",
    ),
    "too big by its sum": (
        b"\n35 2 0 0 1 0",
        b"\n35 2 0 0 %d 0" % MAX,
        f"57: 'summary:' says 337093 Dr, but the cost lines hold {337092 + MAX}",
    ),
    "undefined function": (
        b"fn=(2) walk",
        b"fn=(2)",
        "40: (2) refers to a name that was not defined",
    ),
    "undefined file": (b"fe=(1)", b"fe=(9)", "36: (9) refers to a name that was not defined"),
    "undefined object": (
        b"ob=(1) /usr/bin/stride",
        b"ob=(1)",
        "27: (1) refers to a name that was not defined",
    ),
    "name defined twice": (
        b"fn=(2) walk",
        b"fn=(1) walk",
        "40: (1) is defined again, as another name",
    ),
    "cost line without a function": (b"fn=(1) main\n", b"", "29: a cost line before any 'fn='"),
    "text": (b"fe=(1)", b"hello", "36: not a line of an out-file: 'hello'"),
    "unknown keyword": (b"fe=(1)", b"fx=(1)", "36: not a line of an out-file: 'fx=(1)'"),
    "control character": (b"fe=(1)", b"\x1b[2J", "36: not a line of an out-file: '?[2J'"),
    "call without a cost line": (
        b"fe=(1)",
        b"calls=1 2\nfe=(1)",
        "37: a cost line must follow 'calls=' or 'jump='",
    ),
    "wrong totals": (
        b"totals: 1296106 30",
        b"totals: 1296106 31",
        "58: 'totals:' says 31 I1tm, but the cost lines hold 30",
    ),
    "wrong summary": (
        b"summary: 1296106 30",
        b"summary: 1296107 30",
        "57: 'summary:' says 1296107 Ir, but the cost lines hold 1296106",
    ),
    "short totals": (
        b"totals: 1296106 30",
        b"totals: 1296106",
        "58: 8 counts, where 'events:' names 9",
    ),
    "lost cost line": (
        b"\n35 2 0 0 1 0 0 0 0 0\n",
        b"\n",
        "56: 'summary:' says 1296106 Ir, but the cost lines hold 1296104",
    ),
    "no totals": (b"\ntotals:", b"\n# ", "58: the file ends without 'totals:', so it is not whole"),
    "no summary": (b"\nsummary:", b"\n#", "58: 'totals:' without 'summary:' before it"),
    "second part": (
        b"\ntotals: 1296106",
        b"\ntotals: 0 0 0 0 0 0 0 0 0\npart: 2\ntotals: 1296106",
        "59: text after 'totals:', the last line of an out-file",
    ),
}

# tests/annotate/data/callgrind.out
CALLGRIND: Edits = {
    "a long line, where a short one is allowed": (
        b"\n+3 * 4\n",
        b"\n+3 * 4 0 0 0\n",
        "26: 4 counts, where 'events:' names 3",
    ),
    "missing position": (
        b"\n+3 * 4\n",
        b"\n+3\n",
        "26: 1 columns, where 2 positions must come first",
    ),
    "wrong totals": (
        b"totals: 196",
        b"totals: 197",
        "51: 'totals:' says 197 Ir, but the cost lines hold 196",
    ),
}

# tests/annotate/data/calls.out
CALLS: Edits = {
    "calls of nothing": (b"cfn=(2) even\n", b"", "28: the costs of 'calls=' before any 'cfn='"),
    "calls that are no number": (b"calls=1 40", b"calls=one 40", "31: 'one' is not a number from 0 to 2^64-1"),
    "calls without a number": (b"calls=1 40", b"calls=", "31: '' is not a number from 0 to 2^64-1"),
    "calls too many": (b"calls=1 40", b"calls=99999999999999999999 40", "31: '99999999999999999999' is not a number from 0 to 2^64-1"),
    "inclusive costs that are no number": (b"\n10 1400 ", b"\n10 x400 ", "32: 'x400' is not a number from 0 to 2^64-1"),
    "too many inclusive costs": (b"\n10 1400 ", b"\n10 1 1400 ", "32: 10 counts, where 'events:' names 9"),
    "no inclusive costs": (b"calls=1 40\n10 1400 2 1 400 9 9 100 3 3\n", b"calls=1 40\n", "32: a cost line must follow 'calls=' or 'jump='"),
    "a callee of no name": (b"cfn=(2)\n", b"cfn=(22)\n", "48: (22) refers to a name that was not defined"),
}

# tests/faults/data/mixed.faults
FAULT_LOG: Edits = {
    "first line": (b"# tlbgrind fault log", b"# tlbgrind", "1: not a fault log: the first line is not '# tlbgrind fault log'"),
    "newer": (b"version: 1", b"version: 2", "2: version '2' of the fault log, where only 1 is known"),
    "no version": (b"version: 1", b"revision: 1", "15: there is no 'version:' in the header"),
    "twice": (b"pid: 4712", b"version: 1", "4: a second 'version:'"),
    "page size": (b"size: 4096", b"size: 8192", "6: page size '8192', where 4096, 16384 or 65536 is allowed"),
    "views": (b"views: 4k warm cold", b"views: 4k warm", "12: views '4k warm', where '4k warm cold' is expected"),
    "columns": (
        b"columns: number kinds",
        b"columns: kinds",
        (
            "13: columns 'kinds page map instructions thread by code warm-brought cold-brought cold-read', where "
            "'number kinds page map instructions thread by code warm-brought cold-brought cold-read' is expected"
        ),
    ),
    "header": (b"pid: 4712", b"4712", "4: there is no 'page size:' in the header"),
    "odd header": (b"pid: 4712", b"PID 4712", "4: not a line of a fault log: 'PID 4712'"),
    "map again": (b"map\t2", b"map\t1", "16: map 1 is defined again"),
    "map fields": (b"\t0x18000\t/usr/bin/mixed", b"\t0x18000", "18: 8 fields, where a line 'map' has 9"),
    "map protection": (b"rw-s", b"rwxx", "21: 'rwxx' is not a protection, as in rw-"),
    "map what": (b"\theap\t", b"\theapo\t", "20: 'heapo' is not one of file, bss, heap, stack, thread-stack, tls, vdso, shm, anon"),
    "map ends": (b"0x108000\t0x10a000", b"0x108000\t0x108000", "16: a map that ends at 0x108000, where it begins"),
    "code again": (b"code\t2", b"code\t1", "25: code 1 is defined again"),
    "empty field": (b"\t1\tbrk\t4", b"\t1\t\t4", "37: an empty field; '-' stands for nothing"),
    "gap": (b"\n5\tcCc", b"\n6\tcCc", "30: fault 6 behind fault 4"),
    "kinds": (b"cCc", b"cQc", "30: 'cQc' are not the kinds of a fault in 3 views"),
    "no kinds": (b"cCc", b"---", "30: '---' are not the kinds of a fault in 3 views"),
    "no map": (b"0x121000\t4\t400", b"0x121000\t44\t400", "30: map 44 was not defined"),
    "no code": (b"\t400\t1\t-\t2\t", b"\t400\t1\t-\t7\t", "30: code 7 was not defined"),
    "page": (b"0x121000\t4\t400", b"0x121004\t4\t400", "30: 0x121004 is not the address of a page of 4096 bytes"),
    "address": (b"0x121000\t4\t400", b"121000\t4\t400", "30: '121000' is not an address in hexadecimal digits"),
    "number": (b"0x121000\t4\t400", b"0x121000\t4\t-400", "30: '-400' is not a number from 0 to 2^64-1"),
    "large": (
        b"0x121000\t4\t400",
        b"0x121000\t4\t18446744073709551616",
        "30: '18446744073709551616' is not a number from 0 to 2^64-1",
    ),
    "ranges": (b"-9..-1,+1..+6", b"-9..-1,1..6", "26: '-9..-1,1..6' is not a list of ranges of pages, as in -4..-1,+1..+11"),
    "range order": (b"-9..-1,+1..+6", b"+1..+6,-9..-1", "26: '+1..+6,-9..-1' is not an ascending list of ranges of pages"),
    "repeat fields": (b"*\t3\t0x1000\t10", b"*\t3\t0x1000", "40: 3 fields, where a line '*' has 4"),
    "repeat step": (b"*\t3\t0x1000\t10", b"*\t3\t4096\t10", "40: '4096' is not a step in hexadecimal digits"),
    "repeat out": (b"*\t1\t-0x1000\t0", b"*\t1\t-0x7000000\t0", "44: 1 repetitions by -0x7000000 lead out of the address space"),
    "repeat none": (b"*\t3\t0x1000\t10", b"*\t0\t0x1000\t10", "40: 0 repetitions by 0x1000 lead out of the address space"),
    "repeat twice": (b"*\t3\t0x1000\t10\n", b"*\t1\t0x1000\t10\n*\t2\t0x1000\t10\n", "41: a repetition before the first fault"),
    "lost fault": (b"18\t0\t3\t3\t1\t8\t2\t1", b"19\t0\t3\t3\t1\t9\t2\t1", "45: 'summary 4k' says 19 faults, but the log holds 18"),
    "lost kind": (b"16\t1\t2\t2\t1\t8\t2\t1", b"16\t1\t2\t2\t2\t8\t1\t1", "46: 'summary warm' says 2 zero page, but the log holds 1"),
    "major": (b"cold\t17\t4", b"cold\t17\t5", "47: 'summary cold' says 5 major, but the log holds 4"),
    "summary twice": (b"summary\twarm\t16\t1\t2\t2\t1\t8\t2\t1", b"summary\t4k\t18\t0\t3\t3\t1\t8\t2\t1", "46: a second 'summary 4k'"),
    "no summary": (b"summary\tcold", b"# summary", "54: there is no 'summary cold'"),
    "view": (b"hidden\tcold", b"hidden\thot", "50: 'hot' is not one of 4k, warm, cold"),
    "phases": (b"phase\tother\t10", b"phase\tother", "53: 17 fields, where a line 'phase' has 18"),
    "phase group": (b"phase\tother", b"phase\tothers", "53: 'others' is not one of program, libraries, other"),
    "no phase": (b"phase\tprogram", b"# phase", "54: there is no 'phase program'"),
    "lost phase": (b"phase\tother\t10", b"phase\tother\t9", "54: the lines 'phase' have 15 faults as it is, but the view warm 16"),
    "no hidden": (b"hidden\twarm", b"# hidden", "54: there is no 'hidden warm'"),
    "outside": (b"0x121000\t4\t400", b"0x921000\t4\t400", "30: 0x921000 is not a page of map 4"),
    "repeat outside": (b"*\t1\t-0x1000\t0", b"*\t1\t0x1000000\t0", "44: 0x77ff000 is not a page of map 9"),
    "end": (b"end\t18", b"end\t17", "54: 'end' says 17 faults, but the log holds 18"),
    "no end": (b"end\t18", b"# end", "54: the file ends without 'end', so it is not whole"),
    "late fault": (b"hidden\t4k", b"19\twww\t0x67fd000\t9\t91005\t2\t-\t5\t-\t-\t-\nhidden\t4k", "48: fault 19 behind 'summary'"),
    "late repetition": (b"summary\twarm", b"*\t1\t-0x1000\t0\nsummary\twarm", "46: a repetition behind 'summary'"),
    "more": (b"end\t18\n", b"end\t18\nend\t18\n", "55: text after 'end', the last line of a fault log"),
    "text": (b"hidden\tcold", b"hello", "50: not a line of a fault log: 'hello?11?2'"),
}

# tests/faults/data/used.faults
USED_BYTES: Edits = {
    "not yes": (b"faults-used: yes", b"faults-used: no", "11: faults-used 'no', where only yes is known"),
    "not told": (b"faults-used: yes", b"faults-lost: yes", "46: a line 'used' without 'faults-used: yes' in the header"),
    "fields": (b"13\t-++\t0", b"13\t-++", "55: 5 fields, where a line 'used' has 6"),
    "empty field": (b"13\t-++\t0", b"\t-++\t0", "55: an empty field; '-' stands for nothing"),
    "map": (b"used\t9", b"used\t10", "65: map 10 was not defined"),
    "no map": (b"used\t9", b"used\tx", "65: 'x' is not a number from 0 to 2^64-1"),
    "kinds": (b"ppp", b"pqp", "61: 'pqp' is not how a page came in 3 views"),
    "capitals": (b"ppp", b"Xpp", "61: 'Xpp' is not how a page came in 3 views"),
    "no kinds": (b"ppp", b"---", "61: '---' is not how a page came in 3 views"),
    "page": (b"0x4a08000", b"0x4a08100", "61: 0x4a08100 is not the address of a page of 4096 bytes"),
    "no address": (b"0x4a08000", b"4a08000", "61: '4a08000' is not an address in hexadecimal digits"),
    "no pages": (b"\t13\t-++", b"\t0\t-++", "55: 0 pages from 0x10d000 on are not pages of map 3"),
    "many pages": (
        b"\t13\t-++",
        b"\t4503599627370496\t-++",
        "55: 4503599627370496 pages from 0x10d000 on are not pages of map 3",
    ),
    "behind": (b"\t13\t-++", b"\t20\t-++", "55: 20 pages from 0x10d000 on are not pages of map 3"),
    "before": (b"0x4a08000", b"0x49ff000", "61: 1 pages from 0x49ff000 on are not pages of map 6"),
    "late": (b"end\t18", b"used\t9\t0x67fe000\t2\twww\t100\nend\t18", "78: a line 'used' behind 'used-total'"),
    "bytes": (b"zzz\t4096", b"zzz\t4097", "57: 4097 bytes used of a page of 4096 bytes"),
    "minus": (b"zzz\t4096", b"zzz\t-1", "57: '-1' is not a number from 0 to 2^64-1"),
    "not there": (b"13\t-++\t0", b"13\t-++\t1", "55: 1 bytes used of a page that is not there in each view: '-++'"),
    "lost pages": (b"\t13\t-++", b"\t12\t-++", "76: 'used-total warm' says 61 pages, but the log holds 60"),
    "lost bytes": (b"zzz\t4096", b"zzz\t4095", "75: 'used-total 4k' says 29447 bytes, but the log holds 29446"),
    "lost line": (b"used\t9\t0x67fe000\t2\twww\t100\n", b"", "74: 'used-total 4k' says 18 pages, but the log holds 16"),
    "total twice": (b"used-total\twarm\t61", b"used-total\t4k\t18", "76: a second 'used-total 4k'"),
    "no total": (b"used-total\tcold", b"# used-total", "78: there is no 'used-total cold'"),
    "view": (b"used-total\tcold", b"used-total\thot", "77: 'hot' is not one of 4k, warm, cold"),
}

# tests/faults/data/touches.faults
TOUCHES: Edits = {
    "not yes": (b"faults-touches: yes", b"faults-touches: no", "11: faults-touches 'no', where only yes is known"),
    "not told": (b"faults-touches: yes", b"faults-lost: yes", "27: a line 'touch' without 'faults-touches: yes' in the header"),
    "fields": (b"0x401b000\t1\t24\tlinker", b"0x401b000\t1\t24", "30: 5 fields, where a line 'touch' has 6"),
    "empty field": (b"0x401b000\t1\t24\tlinker", b"0x401b000\t\t24\tlinker", "30: an empty field; '-' stands for nothing"),
    "kind": (b"touch\tx", b"touch\tz", "27: 'z' is not a touch: x, r or w"),
    "map": (b"0x401b000\t1\t24", b"0x401b000\t10\t24", "30: map 10 was not defined"),
    "no address": (b"touch\tr\t0x401b000", b"touch\tr\t401b000", "30: '401b000' is not an address in hexadecimal digits"),
    "page": (b"touch\tr\t0x401b000", b"touch\tr\t0x401b100", "30: 0x401b100 is not the address of a page of 4096 bytes"),
    "outside": (b"touch\tr\t0x401b000", b"touch\tr\t0x402b000", "30: 0x402b000 is not a page of map 1"),
    "time": (b"0x401b000\t1\t24\tlinker", b"0x401b000\t1\t-24\tlinker", "30: '-24' is not a number from 0 to 2^64-1"),
    "work": (b"90400\tlocale", b"90400\tlocal", "43: 'local' is not one of program, linker, locale"),
    "late": (b"end\t18", b"touch\tw\t0x121000\t4\t91006\tprogram\nend\t18", "62: a touch behind 'summary'"),
}

# tests/order/data/first.entries
ENTRIES: Edits = {
    "first line": (b"# tlbgrind entries", b"# tlbgrind", "1: not an entries file: the first line is not '# tlbgrind entries'"),
    "newer": (b"version: 1", b"version: 2", "2: version '2' of the entries file, where only 1 is known"),
    "no version": (b"version: 1", b"revision: 1", "1: there is no 'version:'"),
    "twice": (b"pid: 4711", b"version: 1", "4: a second 'version:'"),
    "header": (b"pid: 4711", b"4711", "4: not a line of an entries file: '4711'"),
    "object again": (b"ob=(2) -", b"ob=(1) -", "11: object (1) is defined again"),
    "function again": (b"fn=(3)", b"fn=(2)", "14: function (2) is defined again"),
    "no object": (b"fn=(3) (2)", b"fn=(3) (9)", "14: object (9) was not defined"),
    "no function": (b"\n3 60 12", b"\n9 60 12", "16: function (9) was not defined"),
    "far block": (b"\n3 60 12", b"\n3 100 12", "16: byte 100 of a function of 100 bytes"),
    "words": (b"\n3 60 12", b"\n3 60", "16: not 'FUNCTION OFFSET LENGTH': '3 60'"),
    "text": (b"\n3 60 12", b"\nhello", "16: not a line of an entries file: 'hello'"),
    "too big": (
        b"fn=(3) (2) 0x5000 100 41",
        b"fn=(3) (2) 0x5000 100 99999999999999999999",
        "14: '99999999999999999999' is not a number from 0 to 2^64-1",
    ),
    "too far": (
        b"fn=(3) (2) 0x5000 100 41",
        b"fn=(3) (2) 0xffffffffffffffff 100 41",
        "14: a function of 100 bytes at 0xffffffffffffffff ends beyond 2^64-1",
    ),
    "totals": (b"blocks 9", b"blocks 8", "27: 'totals:' says 8 blocks, but the file holds 9"),
    "odd totals": (
        b"blocks 9 writes 0 reads 0",
        b"blocks 9",
        "27: not 'totals: objects N functions N blocks N writes N reads N': 'totals: objects 2 functions 7 blocks 9'",
    ),
    "write of none": (b"\n3 60 12", b"\nwr=(2) 0x10 0 5", "16: a write of 0 bytes at 0x10"),
    "read of none": (b"\n3 60 12", b"\nrd=(2) 0x10 0 5", "16: a read of 0 bytes at 0x10"),
    "read": (b"\n3 60 12", b"\nrd=(2) 10 8 5", "16: not 'rd=(OBJECT) OFFSET LENGTH WHEN': 'rd=(2) 10 8 5'"),
    "write again": (b"\n3 60 12", b"\nww=(2) 0x10 8", "16: not 'ww=(OBJECT) OFFSET LENGTH WHEN': 'ww=(2) 0x10 8'"),
    "write to no object": (b"\n3 60 12", b"\nwr=(7) 0x10 8 5", "16: object (7) was not defined"),
    "write": (b"\n3 60 12", b"\nwr=(2) 10 8 5", "16: not 'wr=(OBJECT) OFFSET LENGTH WHEN': 'wr=(2) 10 8 5'"),
    "no totals": (b"totals:", b"# totals:", "27: not a line of an entries file: '# totals: objects 2 functions 7 blocks 9'"),
    "more": (b"reads 0\n", b"reads 0\n1 0 1\n", "28: text after 'totals:', the last line of an entries file"),
}
