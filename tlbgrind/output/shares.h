/* The costs of a run, divided among its phases or threads.

   One share is at hand. When another takes over, the costs that have come since are added to it,
   line by line, and arc by arc of the call graph. The counts themselves (attribution/lines.h) go on
   through all of them. */

#ifndef TG_SHARES_H
#define TG_SHARES_H

#include "pub_tool_basics.h"

#include "pub_tool_xarray.h"

#include "base/file.h"
#include "output/results.h"

typedef enum { TG_BY_PHASE, TG_BY_THREAD, TG_N_SHARINGS } TgSharing;

typedef struct TgShares TgShares;

/* The shares of a kind. There are none at first. */
TgShares* tg_shares(TgSharing kind);

/* The number of the share of that name, made if it is new. The first is at hand. */
UInt tg_shares_number(TgShares* s, const HChar* name, const TgResults* results);

/* Adds the costs since the last call to the share at hand, if there is one. All counts have been
   settled. */
void tg_shares_settle(TgShares* s, const TgResults* results);

/* Another is at hand, after tg_shares_settle(). */
void tg_shares_go_to(TgShares* s, UInt number);

/* Removes all shares but that at hand, whose costs begin at zero with the lines'. */
void tg_shares_zero(TgShares* s, const TgResults* results);

/* Those that there are, in the order in which they were made. */
UInt tg_shares_count(const TgShares* s);
const HChar* tg_shares_name(const TgShares* s, UInt number);
const HChar* tg_shares_at_hand(const TgShares* s);

/* The end of the file's name of that at hand: letters, digits and _, and no other share has it. */
const HChar* tg_shares_label(const TgShares* s);

/* Prints the names of the shares for the out-file of the run, each with that of its file, and for a
   share's file which one it is. */
void tg_shares_describe(const TgShares* s, TgFile* f, const HChar* name);
void tg_shares_describe_one(const TgShares* s, TgFile* f, UInt number);

/* Prints the line that begins a share in a recording: its kind, the end of its file's name, and its
   name. */
void tg_shares_record(const TgShares* s, UInt number, TgFile* f);

/* The share's out-file beside that of the whole run, `name`; to be freed. */
HChar* tg_shares_file_name(const TgShares* s, UInt number, const HChar* name);

/* Stores the share's results in those of the run, for one machine, but for the totals. Returns its
   lines in order of output: an XArray of TgLine*, to be deleted by the caller. */
XArray* tg_shares_result(const TgShares* s, UInt number, UInt machine, TgResults* results,
                         TgResult* result);

/* The share's arcs, as tg_arcs_sorted(). */
XArray* tg_shares_arcs(const TgShares* s, UInt number);

#endif
