/* What --help and --help-debug say of the tool's options. */

#ifndef TG_USAGE_H
#define TG_USAGE_H

void tg_usage_print(void);
void tg_usage_print_debug(void);

#endif
