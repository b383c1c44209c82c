/* What the addresses of a block are relative to.

   Most addresses of a block are a register plus a constant. All that are relative to the same
   temporary, its base, can be looked up together, so each is taken apart into a base and a
   distance as the statements of the block go by. */

#ifndef TG_ADDRESSES_H
#define TG_ADDRESSES_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* An address as a base and a distance from it. */
typedef struct {
   IRTemp root; /* IRTemp_INVALID: the address is `offset` itself */
   UWord offset;
} TgAddress;

/* A block begins, with so many temporaries. */
void tg_addresses_forget(Int n_temps);

/* The temporary t becomes `e`: notes it if that is another temporary plus or minus a constant,
   or was computed before. */
void tg_addresses_derive(IRTemp t, const IRExpr* e);

/* Of an address in a statement: a temporary or a constant. */
TgAddress tg_address_of(const IRExpr* atom);

/* The value of a constant as wide as an address; False: it is none. */
Bool tg_constant_of(const IRExpr* e, UWord* c);

#endif
