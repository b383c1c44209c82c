"""What tlbgrind's companion commands share: reading an out-file, adding it up, showing it.

Data goes one way, each module knowing only those before it:

    errors   a failure that the user can act on
    outfile  bytes -> OutFile: the format, checked
    profile  OutFiles -> Profile: merged or subtracted, summed by function, file, object, line
    events   which columns there are, recorded or derived, and which are shown by default
    tables   counts -> aligned text
    sources  a recorded source name -> the file's lines
    report   everything printed but the sources
    annotate the annotated sources and their summary
    cli      options, and the life of one call of tg_annotate
"""
