/* The data file of a simulation: costs by object of data, of all machines in one file. It is made
   of the text that a recording with --data=yes has behind that of the out-files.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_DATA_FILE_H
#define TG_SIMULATE_DATA_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simulate/out_file.h"

/* How much of a text at the end of a recording stands before the line "@data"; all of it, if there
   is no such line. */
size_t tg_data_text_at(const char *text, size_t n);

/* Whether the text that begins with this line is one that tlbgrind ends a recording with, of so
   many lines of source. Returns NULL, or what is wrong. */
const char *tg_data_text_check(const char *text, size_t n, unsigned n_lines);

typedef struct TgDataFile TgDataFile;

TgDataFile *tg_data_file_new(unsigned n_machines);

/* Keeps what the file has of a machine, from a text that has been checked; `flushes`: the recording
   tells of them; `total`, `least`: of tg_out_file_sums(). Returns NULL, or what is wrong. */
const char *tg_data_file_keep(TgDataFile *d, const TgOutFile *o, const char *text, size_t n,
                              bool flushes, const uint64_t total[TG_N_COSTS], uint64_t least);

/* What is kept of machine number `machine`, from 0, through a pipe to another process. False: that
   has ended. */
bool tg_data_file_send(const TgDataFile *d, unsigned machine, int fd);
bool tg_data_file_receive(TgDataFile *d, unsigned machine, int fd);

/* The file's text, to be freed, when all machines are kept. */
char *tg_data_file_make(const TgDataFile *d, size_t *length);

void tg_data_file_free(TgDataFile *d);

#endif
