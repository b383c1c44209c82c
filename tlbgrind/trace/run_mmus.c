/* The MMUs of the run. See trace/run_mmus.h. */

#include "pub_tool_basics.h"

#include "trace/run_mmus.h"

tlb_mmus tg_mmus;
tlb_page_record tg_near[TG_NEAR_PAGES];
