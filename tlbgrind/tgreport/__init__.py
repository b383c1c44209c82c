# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What tlbgrind's companion commands share: reading an out-file, adding it up, showing it.

Data goes one way, each module knowing only those before it:

    errors     a failure that the user can act on
    outfile    bytes -> OutFile: the format, checked
    profile    OutFiles -> Profile: merged or subtracted, summed by function, file, object, line
    events     which columns there are, recorded or derived, and which are shown by default
    selection  what of a profile is shown, in which order, and what is too small
    tables     counts -> aligned text
    listing    the tables by function, source file, object or line
    report     metadata and summary
    sources    a recorded source name -> the file's lines
    annotate   the annotated sources and their summary
    cli        options, and the life of one call of tg_annotate
"""
