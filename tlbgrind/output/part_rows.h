/* Rows of the summary and lines of the out-file for parts of what a run has counted: its threads,
   its copies. */

#ifndef TG_PART_ROWS_H
#define TG_PART_ROWS_H

#include "pub_tool_basics.h"

#include "base/file.h"

typedef enum {
   TG_PART_I1_MISSES, TG_PART_I_WALKS, TG_PART_D1_MISSES, TG_PART_D_WALKS, TG_N_PART_COUNTS
} TgPartCount;

typedef struct {
   UInt number;
   ULong instructions;
   const ULong* count; /* TG_N_PART_COUNTS */
} TgPartRow;

/* `what`: of what the rows are; `machines`: each names its machine. */
void tg_part_rows_head(const HChar* what, Bool machines);

/* `machine`: NULL if they do not. */
void tg_part_rows_print(const TgPartRow* row, const HChar* machine);

/* As `desc: WHAT: NUMBER Ir N I1tm N ...`. */
void tg_part_rows_describe(TgFile* f, const HChar* what, const TgPartRow* row);

#endif
