/* Paths of files. */

#ifndef TG_PATH_H
#define TG_PATH_H

#include "pub_tool_basics.h"

/* The last part of a path, behind its folder. */
const HChar* tg_path_file(const HChar* path);

#endif
