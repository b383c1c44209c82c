# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The package of tlbgrind's companions: tg_annotate, tg_faults, tg_native, tg_order, tg_report.

Each reads what tlbgrind wrote, adds it up and shows it. A folder imports only from those above it in
this list, but report and native, which are above all; annotate and faults never from each other. Within a
folder data goes one way: a module imports only modules before it. tests/run-floors refuses imports
that go up, and circles.

base: what every companion's call has in common

    errors     a failure that the user can act on
    text       rows of words and numbers -> aligned text
    names      long names -> names that fit
    closest    a mistyped word -> what it was meant to be
    functions  what an option calls a function -> the functions that are meant
    demangle   names of C++, Rust and D -> as the program's text has them
    progress   a line on the terminal where a call takes long
    terminal   how wide text may be, and whether it has colours
    tool       which tlbgrind a companion runs
    command    options, one-line errors, output at the end
    documents  tables -> JSON or CSV

formats: bytes -> checked data

    outfile    costs by code, as tlbgrind and callgrind write them
    fault      a page fault, and many of them in columns
    faultlog   page faults in order
    datafile   costs by object of data and line of code
    timeline   misses, faults and pages over instructions
    entries    executed code, and written data, in order
    reach      misses of TLBs of each size
    dwarf      types of variables, members of structures
    elf        segments, sections, symbols, relocations
    debugfile  a stripped ELF file -> the symbols of its debug file
    archive    the ELF files in an archive
    cost       an out-file -> what its misses cost, by function
    share      out-files -> what share of the time their misses take
    verdicts   cycles that are saved -> whether that is worth a change

places: where functions and data lie, and where an order puts them

    trace      Entries and Elf -> Trace: the functions of one object that were entered
    order      Traces -> Order: several runs merged, names with and without suffixes
    sections   object files -> the section that each function is in
    layout     functions and places -> pages, windows, faults; an order of them -> places
    datafaults uses of data -> their page faults, as it lies and packed
    datapages  Entries and Elf -> the data that was used
    dataorder  Traces -> DataOrder: which variables come first, and where all lie then

annotate: tg_annotate

    profile    OutFiles -> Profile: merged or subtracted, summed by function, file, object, line
    callgraph  Profile -> who calls whom, inclusive costs, cycles
    calltree   a call graph -> a tree that adds up
    events     which columns there are, recorded or derived, and which are shown by default
    selection  what of a profile is shown, in which order, and what is too small
    rows       the tables by function, source file, object or line, as names and counts
    facts      metadata, rates of events, changes between two files
    calltables inclusive costs, callers and callees, the tree, as names and counts
    compare    several OutFiles -> tables with one column for each
    verdict    a profile, a comparison -> what share of the time, where, and is it a lot
    limits     what of the program's counts is above the user's limits
    table      counts -> aligned text, one column for each event
    listing    rows -> text
    report     facts -> text
    calltext   tables of calls -> text
    beside     a comparison -> text
    export     rows, facts, calls, comparisons and limits -> documents
    remedies   a kind of memory -> how it gets larger pages
    advice     OutFiles of a run with --advice=SIZE -> what each memory saves
    advicetext that -> text
    mappings   an out-file's mappings -> text, and what to do about them
    libraries  calls between objects, pages of code, and what merging saves
    librarytext  these -> text
    convert    a profile -> folded stacks, cachegrind's out-files
    sources    a recorded source name -> the file's lines
    members    data files and debug information -> names of the members of records
    by_data    data files -> OutFiles, or what of them is of some code or data
    annotate   the annotated sources and their summary
    assembly   the instructions of a function
    cli        options, and the life of one call

faults: tg_faults

    faultstacks  the calls on the way to a fault -> names, folded stacks
    faultlist    FaultLog -> listings
    faultrows    FaultLog -> tables of sums, as numbers
    faulttables  these tables -> text
    faultused    used bytes of pages -> text and listings
    export       tables and listings -> documents
    native       FaultLog and perf's output -> what agrees
    pagecache    what the page cache has of a file, and what a fault reads
    replay       FaultLog -> the same run with changes: its faults
    readahead    a replayed run -> what it reads from the disk, in order
    whatif       remedies -> what each saves, ranked and combined
    whatif_code  Entries -> which bytes of functions and variables are used
    whatif_*     the remedies, one file for each kind
    whatif_standin  an ELF file -> source of one of its sizes that does nothing
    whatif_trial such programs, linked in another way, and their faults
    whatif_relinked  a run's touches -> where they are in such a program
    whatiftext   forecasts -> text
    cli          options, and the life of one call

order: tg_order

    options    what is allowed, and what goes together
    dialects   Order -> what each linker reads, and back
    ld_script  GNU ld's default script, to be added to
    work       what the answers share: options, Traces, Order, rows of a measure
    cold       what a layout changes of what is read from the disk
    check      does a binary follow an order?
    datacheck  does its data?
    forecast   what an order would bring
    dataforecast  what an order of its data would
    gains      what an order brings each run, and runs that are not in it
    objects    an order for each object of a process
    stale      how far an order still fits what the program executes
    verdict    whether the faults that it saves are worth it
    datatables the data that was written -> text
    cli        the life of one call

native: tg_native

    perfevents    what perf script prints -> faults by process, program and mapping
    surroundings  variables, files in the page cache: what makes two runs alike
    recording     a program -> its fault logs, its native faults
    pairing       two runs -> which pages of one are those of the other
    measure       a program -> how far log and kernel agree
    tables        many of these -> a table
    cli           options, and the life of one call

report: tg_report

    run        one file or a folder -> the files of a run
    rows       strings and columns of counts, each kept once
    columns    an out-file -> columns, summed by function, file, object and line
    inputs     files -> what they hold, whichever kind each is
    share      an out-file -> its share of time, in the terminal's words
    costs      OutFiles -> machines, tables of code and phases
    advised    OutFiles of --advice -> what larger pages would win
    mapped     OutFiles of --mappings -> mappings
    calls      calls in OutFiles -> flame graphs, tables of calls
    data       DataFiles -> tables of data, and of data by line
    faults     FaultLog -> start-up, timeline, mappings, faulting code
    others     Reach and Timeline -> curves; Entries -> order of first use
    verdicts   machines and advice -> what to do
    page       all of it, report.html, its style and scripts, Chart.js -> the page
    cli        options, and the life of one call

    In the browser: tables.js sorts, searches and fits columns, plots.js and flame.js draw, choice.js
    has the machine and the count that all sections follow, parts.js what sections are made of;
    answer.js is the first screen, and costs.js, faults.js, timeline.js, others.js and machines.js
    fill the sections in the order of report.js.

A new companion gets a folder beside these five, a script that calls its cli.main, and lines in
tlbgrind/local.mk. A new file format gets a module in formats.
"""
