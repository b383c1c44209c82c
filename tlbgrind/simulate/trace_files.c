/* The files of a trace. See simulate/trace_files.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/load_machine.h"
#include "simulate/trace_files.h"
#include "simulate/unpacked.h"

/* FOLDER/NAME. */
static char *path_of(const char *folder, const char *name)
{
   const size_t room = strlen(folder) + strlen(name) + 2;
   const size_t n = strlen(folder);
   char *const path = tg_load_need(malloc(room));
   snprintf(path, room, "%s%s%s", folder, n > 0 && folder[n - 1] == '/' ? "" : "/", name);
   return path;
}

static bool is_folder(const char *name)
{
   struct stat s;
   return stat(name, &s) == 0 && S_ISDIR(s.st_mode);
}

static bool is_file(const char *name)
{
   struct stat s;
   return stat(name, &s) == 0 && S_ISREG(s.st_mode);
}

/* Whether drraw2trace names a thread's or core's trace so: NAME.trace.zip, NAME.trace.gz,
   NAME.trace. */
static bool is_trace(const char *name)
{
   const char *const at = strstr(name, ".trace");
   return at != NULL && (at[6] == '.' || at[6] == '\0');
}

static int compare(const void *a, const void *b)
{
   return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *folder_of_files(const char *name)
{
   char *const inner = path_of(name, "trace");
   if (is_folder(inner))
      return inner;
   free(inner);
   return tg_load_need(strdup(name));
}

static TgTraceFiles files_in(const char *given)
{
   TgTraceFiles files = { .is_folder = true,
                          .name = tg_load_need(calloc(TG_MOST_TRACE_FILES, sizeof *files.name)) };
   char *const folder = folder_of_files(given);
   DIR *const d = opendir(folder);
   const struct dirent *e;
   if (d == NULL)
      tg_load_refuse("%s: the folder cannot be read: %s", folder, strerror(errno));
   while ((e = readdir(d)) != NULL) {
      char *const name = path_of(folder, e->d_name);
      if (!is_trace(e->d_name) || !is_file(name)) {
         free(name);
         continue;
      }
      if (files.n == TG_MOST_TRACE_FILES)
         tg_load_refuse("%s: it has more than %d traces; at most so many are read at once", folder,
                        TG_MOST_TRACE_FILES);
      files.name[files.n++] = name;
   }
   closedir(d);
   if (files.n == 0)
      tg_load_refuse("%s: the folder has no trace; their names have .trace in them, as drraw2trace "
                     "writes them", folder);
   qsort(files.name, files.n, sizeof *files.name, compare);
   free(folder);
   return files;
}

TgTraceFiles tg_trace_files(const char *name, const TgTraceFormat *format)
{
   if (format == &tg_input_drmemtrace && is_folder(name))
      return files_in(name);
   TgTraceFiles files = { .n = 1, .name = tg_load_need(calloc(1, sizeof *files.name)) };
   files.name[0] = tg_load_need(strdup(name));
   return files;
}

/* --- v2p.textproto --- */

static char *folder_around(const char *name)
{
   const char *const slash = strrchr(name, '/');
   if (slash == NULL)
      return tg_load_need(strdup("."));
   char *const folder = tg_load_need(strdup(name));
   folder[slash == name ? 1 : slash - name] = '\0';
   return folder;
}

static char *v2p_in(const char *folder)
{
   char *const name = path_of(folder, "v2p.textproto");
   if (is_file(name))
      return name;
   free(name);
   return NULL;
}

const char *tg_trace_v2p(const char *name)
{
   char *const folder = is_folder(name) ? folder_of_files(name) : folder_around(name);
   char *found = v2p_in(folder);
   const size_t n = strlen(folder);
   if (found == NULL && n >= 5 && strcmp(folder + n - 5, "trace") == 0
       && (n == 5 || folder[n - 6] == '/')) {
      char *const above = path_of(folder, "..");
      found = v2p_in(above);
      free(above);
   }
   free(folder);
   return found;
}

TgPhysical *tg_trace_read_v2p(const char *name, unsigned base_page_shift)
{
   TgUnpacked *const file = tg_unpacked_open(name);
   size_t n = 0, room = 1 << 16, got;
   char *text = tg_load_need(malloc(room)), why[160];
   const char *program;
   unsigned line = 1;
   while ((got = tg_unpacked_get(file, (uint8_t *)text + n, room - n)) == room - n) {
      n += got;
      room *= 2;
      text = tg_load_need(realloc(text, room));
   }
   if (!tg_unpacked_is_whole(file, &program))
      tg_load_refuse("%s: %s cannot unpack the file to its end", name, program);
   tg_unpacked_close(file);
   TgPhysical *const p = tg_physical_parse(text, n + got, base_page_shift, &line, why);
   if (p == NULL)
      tg_load_refuse("%s:%u: %s", name, line, why);
   free(text);
   return p;
}
