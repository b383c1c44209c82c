# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What tlbgrind's companion commands share: reading an out-file, adding it up, showing it.

Data goes one way, each module knowing only those before it:

    errors     a failure that the user can act on
    outfile    bytes -> OutFile: the format, checked
    profile    OutFiles -> Profile: merged or subtracted, summed by function, file, object, line
    events     which columns there are, recorded or derived, and which are shown by default
    selection  what of a profile is shown, in which order, and what is too small
    text       rows of words and numbers -> aligned text
    tables     counts -> aligned text, one column for each event
    listing    the tables by function, source file, object or line
    report     metadata and summary
    sources    a recorded source name -> the file's lines
    annotate   the annotated sources and their summary
    cli        options, and the life of one call of tg_annotate

tg_order goes another way:

    command    what every companion's call has in common
    elf        bytes -> Elf: segments, sections, symbols, relocations, checked
    archive    bytes -> the Elf of each object file in an archive
    entries    bytes -> Entries: the code that was executed, in order
    trace      Entries and Elf -> Trace: the functions of one object that were entered
    order      Traces -> Order: several runs merged, names with and without suffixes
    dialects   Order -> what a linker reads
    layout     functions and places -> pages, windows, faults
    datapages  Entries and Elf -> the data that was written
    cli_order  options, and the life of one call of tg_order

And tg_faults a third:

    faultlog     bytes -> FaultLog: page faults in order, checked
    faultlist    FaultLog -> listings
    faulttables  FaultLog -> sums
    native       FaultLog and perf's output -> what agrees
    cli_faults   options, and the life of one call of tg_faults
"""
