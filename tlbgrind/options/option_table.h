/* The table of all options: what each takes, where that goes, and what --help says of it.

   The arguments are taken by it, --help is printed from it and with that the shells' completion
   comes from it, and mistyped options are compared with its names. So a new option is a row here,
   in the place where --help shall have it; a member of TgOptions, or whoever asks for the argument
   (options/given.h); and its place in docs/reference.md and docs/tlbgrind.1, which a test compares
   with --help. */

#ifndef TG_OPTION_TABLE_H
#define TG_OPTION_TABLE_H

#include "pub_tool_basics.h"

#include "options/options.h"

typedef enum {
   TG_KEPT,     /* nothing is done: who needs it asks options/given.h when all are known */
   TG_YES_NO,   /* a Bool of TgOptions becomes what the value says */
   TG_NUMBER,   /* a Long of TgOptions does, from `least` to `most` */
   TG_TAKEN,    /* a function takes it at once */
   TG_LAUNCHER, /* it is the command tlbgrind's, and no argument of the tool */
} TgOptionKind;

typedef struct {
   const HChar* name;   /* with its dashes */
   const HChar* values; /* what stands behind that, as --help says it; "[=...": it need not; "":
                           nothing does */
   const HChar* help;   /* lines, with a line feed between two of them */
   TgOptionKind kind;
   SizeT member; /* of TgOptions */
   Long initial; /* what that is without the option */
   Long least, most;
   /* Ends the run if the value, NULL if there is none, is not allowed. */
   void (*take)(const HChar* arg, const HChar* value, TgOptions* o);
   Bool is_for_debugging;
   Bool is_everyday;      /* of the few that `tlbgrind --help' has */
   const HChar* subject;  /* that begins with this option; NULL: it is as that before it */
} TgOption;

/* The options, one by one, in the order of --help; NULL: there are no more. */
const TgOption* tg_option(UInt nth);

/* The option of the argument, if that has a value where one has to be, and the tool takes it; NULL:
   there is none. */
const TgOption* tg_option_of(const HChar* arg);

#endif
