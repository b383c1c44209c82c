/* Looks for a program as a shell would. */

#ifndef TG_SEARCH_PATH_H
#define TG_SEARCH_PATH_H

#include "pub_tool_basics.h"

/* The program's path, to be freed; NULL: it is in no folder of PATH that has an absolute name. */
HChar* tg_search_path(const HChar* program);

#endif
