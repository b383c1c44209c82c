/* Describes which page sizes backed the client's memory: for people, and for programs. */

#ifndef TG_BACKING_REPORT_H
#define TG_BACKING_REPORT_H

#include "pub_tool_basics.h"

/* Whether the view can differ from base pages alone: it has rules or --thp=always, or large pages
   back memory for which the program requested them. */
Bool tg_backing_report_is_of_interest(UInt view);

/* Calls `line` with a text for each page size of the view, about the moment with the most memory
   backed, and for requests that could not be met. */
void tg_backing_report_describe(UInt view,
                        void (*line)(const HChar* text, void* opaque),
                        void* opaque);

/* Calls `line` with the same for programs, "KEY: WORDS": for each page size

      Backed: SIZE PAGES KIBIBYTES TOUCHED-KIBIBYTES

   and for each rule that names a large mapping by its number what it has found, where FIRST is the
   address of the first mapping, and FILE its file, if it has one:

      Numbered: RULE MAPPINGS KIBIBYTES FIRST [FILE] */
void tg_backing_report_keys(UInt view, void (*line)(const HChar* text, void* opaque),
                            void* opaque);

/* What a rule of the view has come to. */
typedef enum {
   TG_RULE_EFFECTIVE, /* some memory was in such pages */
   TG_RULE_UNMET,     /* no such memory was touched */
   TG_RULE_OVERRULED, /* later rules speak of all such memory that was touched */
   TG_RULE_NO_ROOM    /* no mapping had room for a page of that size */
} TgRuleEffect;

TgRuleEffect tg_backing_report_effect(UInt view, UInt rule);

/* First touches of base pages, and the page faults that they take when a page of the view comes
   whole with one fault. */
typedef struct {
   ULong touches;
   ULong faults;
} TgFirstTouches;

TgFirstTouches tg_backing_report_first_touches(UInt view);

#endif
