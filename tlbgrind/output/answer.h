/* Prints the last lines of the summary: the share of the time, the most costly place, and the
   command that shows more. */

#ifndef TG_ANSWER_H
#define TG_ANSWER_H

#include "output/results.h"

/* `out_file`: the out-file's name, without the labels of several machines; NULL: not written. */
void tg_answer_print(const TgResults* results, const HChar* out_file);

/* Prints only the commands that show the out-files. */
void tg_answer_print_commands(const TgResults* results, const HChar* out_file);

#endif
