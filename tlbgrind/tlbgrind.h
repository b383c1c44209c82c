/* Client requests: a program under tlbgrind says which part of its run is measured, and which
   memory has which name.

   Copyright (C) 2026 The tlbgrind authors

   This file, unlike the rest of tlbgrind, may be copied into programs under any licence:
   redistribution and use in source and binary forms, with or without modification, are permitted.
   It is provided without any warranty.

   A request is a few instructions that do nothing when the program runs without Valgrind, or
   under another tool. With -DNVALGRIND there are none. The requests need Valgrind's own header;
   include it first if it is not found as <valgrind/valgrind.h>. */

#ifndef TLBGRIND_H
#define TLBGRIND_H

#ifndef __VALGRIND_H
#include <valgrind/valgrind.h>
#endif

/* Programs hold these numbers: new ones come at the end. */
typedef enum {
   VG_USERREQ__TLBGRIND_START = VG_USERREQ_TOOL_BASE('T', 'G'),
   VG_USERREQ__TLBGRIND_STOP,
   VG_USERREQ__TLBGRIND_ZERO,
   VG_USERREQ__TLBGRIND_DUMP,
   VG_USERREQ__TLBGRIND_MARK,
   VG_USERREQ__TLBGRIND_NAME
} Vg_TlbgrindClientRequest;

/* Starts and stops instrumentation, for all threads. While it is off nothing is simulated or
   counted, and the program runs nearly as fast as under Valgrind's tool `none'. The simulated
   TLBs keep their entries. Without effect if it is on, or off, already. */
#define TLBGRIND_START \
   VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ__TLBGRIND_START, 0, 0, 0, 0, 0)
#define TLBGRIND_STOP \
   VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ__TLBGRIND_STOP, 0, 0, 0, 0, 0)

/* Sets all counts to zero, and empties the fault log. The simulated TLBs keep their entries. */
#define TLBGRIND_ZERO \
   VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ__TLBGRIND_ZERO, 0, 0, 0, 0, 0)

/* Writes all counts so far to numbered files (NAME.1, NAME.2, ...), and sets them to zero. */
#define TLBGRIND_DUMP \
   VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ__TLBGRIND_DUMP, 0, 0, 0, 0, 0)

/* Begins a phase of the run. Phases of one name add up; each has an out-file of its own beside
   that of the whole run. `name': a text, which need not stay. */
#define TLBGRIND_MARK(name) \
   VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ__TLBGRIND_MARK, (name), 0, 0, 0, 0)

/* Gives the memory [address, address + length) a name: with --data=yes it is an object of data of
   its own, whatever it lies in. Ranges of one name are one object; a new name replaces an old one.
   The name goes when the memory is unmapped, or the heap block freed in which all of it lies.
   `name': a text, which need not stay. */
#define TLBGRIND_NAME(address, length, name) \
   VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ__TLBGRIND_NAME, (address), (length), (name), 0, 0)

/* Takes the names of that memory away; with length 0, that of the range that holds the address. */
#define TLBGRIND_UNNAME(address, length) \
   VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ__TLBGRIND_NAME, (address), (length), 0, 0, 0)

#endif
