/* Objects of data: what the program's data references refer to.

   An object is a group of heap blocks with one allocation call stack, a variable, a thread's
   stack, a mapped file, anonymous memory with one call stack of mmap(), or memory that the program
   has given a name. Objects have numbers
   from 1, in the order of their first use, and exist until the end of the run. */

#ifndef TG_DATA_OBJECTS_H
#define TG_DATA_OBJECTS_H

#include "pub_tool_basics.h"

#include "attribution/sites.h"

typedef enum {
   TG_DATA_UNKNOWN,   /* in no mapping, or in Valgrind's own */
   TG_DATA_HEAP,      /* blocks, by call stack */
   TG_DATA_ALLOCATOR, /* memory of the allocator that is in no block */
   TG_DATA_VARIABLE,  /* global or static, by symbol */
   TG_DATA_STACK,     /* of a thread */
   TG_DATA_FILE,      /* of a file, in no variable */
   TG_DATA_MAPPING,   /* anonymous, by call stack */
   TG_DATA_SHM,       /* a System V segment */
   TG_DATA_NAMED,     /* by TLBGRIND_NAME(): data/named.h */
   TG_N_DATA_KINDS
} TgDataKind;

typedef struct {
   UInt n;
   TgSite* site[]; /* the innermost function's first */
} TgDataStack;

/* How the size of records was found: data/records.h. */
typedef enum {
   TG_NO_RECORDS,
   TG_RECORD_BLOCK,    /* each block is one */
   TG_RECORD_CALLOC,   /* the size of an element, an argument of calloc() or reallocarray() */
   TG_RECORD_VARIABLE, /* the variable is one */
   TG_RECORD_NAMED,    /* each named range is one */
   TG_RECORD_GIVEN,    /* --data-stride */
   TG_RECORD_SEEN,     /* references have shown it: data/strides.h */
   TG_N_RECORDS
} TgRecordHow;

typedef struct _TgLearning TgLearning; /* data/strides.c */

/* Kind, name, file, start and stack are its key. Names are from tg_intern(). */
typedef struct {
   TgDataKind kind;
   const HChar* name;
   const HChar* file;  /* of a variable: program or library */
   Addr start;         /* of a variable */
   const TgDataStack* stack; /* NULL: none */
   UInt number;
   SizeT size;         /* of a variable; 0: unknown */
   ULong blocks, bytes; /* allocated, of heap blocks and mappings; named */
   SizeT record;        /* the size of its records; 0: there are several */
   TgRecordHow record_how;
   UInt* cell;          /* numbers of its cells, by word of the record; 0: none yet */
   UInt n_cells;
   Bool has_learnt;     /* its stride has been looked for, or is */
   TgLearning* learning; /* NULL: it is not */
} TgDataObject;

void tg_data_objects_init(UInt max_frames);

/* The object with the key's kind, name, file, start and stack, made if it is new. */
TgDataObject* tg_data_object(const TgDataObject* key);

/* By number; their numbers are 1 to tg_data_n_objects(). */
TgDataObject* tg_data_object_of(UInt number);
UInt tg_data_n_objects(void);

/* Cells: the words of an object's records (data/records.h). Their numbers are above those of all
   objects. The first function is the number of one, made if it is new; the others take the number
   of an object, too, which is the whole of itself. */
UInt tg_data_cell(UInt object, UInt offset);
Bool tg_data_is_cell(UInt number);
UInt tg_data_whole(UInt number);
UInt tg_data_offset(UInt number);

/* A cell more of the object, at no offset until it is set. */
#define TG_NO_OFFSET (~0u)
UInt tg_data_new_cell(UInt object);
void tg_data_set_offset(UInt number, UInt offset);
/* The object's records turn out to have so many bytes: offsets become those in such records. */
void tg_data_fold_cells(TgDataObject* o, SizeT record);

/* The thread's call stack, one copy of each. */
const TgDataStack* tg_data_stack(ThreadId tid);

/* Sets what was allocated to zero, for a forked child. */
void tg_data_objects_forked(void);

#endif
