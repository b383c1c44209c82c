/* The options --entries=, --data-stride= and --merge-code=, whose texts are checked as soon as they
   are given. */

#ifndef TG_TEXT_OPTIONS_H
#define TG_TEXT_OPTIONS_H

#include "pub_tool_basics.h"

#include "options/options.h"

/* Each takes its option; see TgOption, options/option_table.h. */
void tg_text_options_take_entries(const HChar* arg, const HChar* value, TgOptions* o);
void tg_text_options_take_data_stride(const HChar* arg, const HChar* value, TgOptions* o);
void tg_text_options_take_merge_code(const HChar* arg, const HChar* value, TgOptions* o);

#endif
