/* The main program of all fuzzers: makes inputs out of a corpus and has them read.

   It keeps the inputs that reach code, or a number of repetitions of it, that none before them
   reached, and changes these further. gcc alone is enough: the code under test is compiled with
   -fsanitize-coverage=trace-pc and calls in here at each branch. The same seed and corpus give
   the same inputs.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   fuzz_NAME [--runs=N] [--seconds=N] [--seed=N] [--save=FOLDER] [FILE|FOLDER...]

   Reads each file once, then N changed inputs (0 if not told, or as many as the seconds allow).
   Without files it reads those of its corpus (fuzz.h). What is found wrong ends it; the input
   stands in the file crash-fuzz_NAME then. */

#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum {
   MAX_INPUTS = 1 << 16,
   MAX_FILE = 4 << 20, /* of the corpus */
   MAX_SIZE = 1 << 14, /* of a changed input */
   MAP_SIZE = 1 << 14,
   TOO_SLOW = 20 /* seconds of the processor's time that no input may take */
};

typedef struct {
   char *data;
   size_t size;
} input;

static input inputs[MAX_INPUTS];
static size_t n_inputs;
static input current; /* begins at the second byte of `data` */
static const char *program;
static const char *save_folder;

/* --- What happens when something is wrong --- */

void __sanitizer_set_death_callback(void (*callback)(void));

static void keep_crash(void)
{
   char name[300];
   snprintf(name, sizeof name, "crash-%s", program);
   FILE *const f = fopen(name, "wb");
   if (f == NULL)
      return;
   fwrite(current.data + 1, 1, current.size, f);
   fclose(f);
   fprintf(stderr, "%s: the input of %zu bytes is in %s\n", program,
           current.size, name);
}

_Noreturn void fuzz_fail(const char *what)
{
   fprintf(stderr, "%s: %s\n", program, what);
   keep_crash();
   exit(1);
}

void fuzz_check_line(const char *data, size_t size, uint64_t line)
{
   uint64_t lines = 1;
   for (size_t i = 0; i < size; i++)
      lines += data[i] == '\n';
   if (line < 1 || line > lines)
      fuzz_fail("the line to blame is not in the input");
}

size_t fuzz_get(void *opaque, uint8_t *bytes, size_t n)
{
   fuzz_stream *const in = opaque;
   const size_t left = (size_t)(in->end - in->at), piece = n < left ? n : left;
   memcpy(bytes, in->at, piece);
   in->at += piece;
   return piece;
}

void fuzz_check_reason(const char *why, size_t size)
{
   if (memchr(why, '\0', size) == NULL || why[0] == '\0')
      fuzz_fail("refused without a reason");
   for (const char *s = why; *s != '\0'; s++) {
      if ((unsigned char)*s < ' ' || *s == 0x7f)
         fuzz_fail("the reason is more than a line of text");
   }
}

static void on_alarm(int signal_number)
{
   (void)signal_number;
   fuzz_fail("an input takes too long");
}

/* The time of this process alone: others may want the processor, too. 0: no alarm. */
static void set_alarm(time_t seconds)
{
   const struct itimerval timer = { .it_value = { .tv_sec = seconds } };
   setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

/* --- Which code has been reached --- */

static uint8_t map[MAP_SIZE];  /* by this input: how often each branch */
static uint8_t seen[MAP_SIZE]; /* by all: one bit for each class of that */
static uintptr_t previous;

/* Most of the time is here, and nothing of the input gets here. */
#define NOT_SANITIZED __attribute__((no_sanitize("address", "undefined")))

NOT_SANITIZED void __sanitizer_cov_trace_pc(void);

/* Counts pairs of places, not places; relative, as the program may be loaded
   anywhere. */
void __sanitizer_cov_trace_pc(void)
{
   const uintptr_t here = (uintptr_t)__builtin_return_address(0)
                          - (uintptr_t)&__sanitizer_cov_trace_pc;
   const uintptr_t mixed = here * 0x9E3779B1u >> 8;
   uint8_t *const count = &map[(mixed ^ previous) % MAP_SIZE];
   *count = (uint8_t)(*count + (*count < 255));
   previous = mixed >> 1;
}

static uint8_t class_of(uint8_t count)
{
   static const uint8_t above[] = { 0, 1, 2, 3, 7, 15, 31, 127 };
   uint8_t class = 0;
   for (unsigned i = 0; i < sizeof above && count > above[i]; i++)
      class = (uint8_t)(1 << i);
   return class;
}

NOT_SANITIZED static int is_new(void)
{
   int found = 0;
   for (size_t i = 0; i < MAP_SIZE; i++) {
      if (map[i] == 0)
         continue;
      const uint8_t class = class_of(map[i]);
      found |= (class & ~seen[i]) != 0;
      seen[i] |= class;
   }
   return found;
}

/* --- Inputs --- */

static void *memory(size_t size)
{
   void *const p = malloc(size);
   if (p == NULL)
      fuzz_fail("out of memory");
   return p;
}

static void save(const input *i)
{
   uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
   char name[4096];
   for (size_t n = 0; n < i->size; n++)
      hash = (hash ^ (uint8_t)i->data[n]) * UINT64_C(0x100000001b3);
   snprintf(name, sizeof name, "%s/%016llx", save_folder,
            (unsigned long long)hash);
   FILE *const f = fopen(name, "wb");
   if (f == NULL || fwrite(i->data, 1, i->size, f) != i->size
       || fclose(f) != 0) {
      fprintf(stderr, "%s: %s: %s\n", program, name, strerror(errno));
      exit(2);
   }
}

/* Has it read, from memory of its own; keeps it if it is of use, or the first. */
static void run(const char *data, size_t size)
{
   memset(map, 0, sizeof map);
   previous = 0;
   current.data = memory(size + 1);
   current.size = size;
   /* Nothing may count on alignment. */
   memcpy(current.data + 1, data, size);
   fuzz_one(current.data + 1, size);
   memcpy(current.data + 1, data, size);
   if ((is_new() || n_inputs == 0) && n_inputs < MAX_INPUTS) {
      input *const kept = &inputs[n_inputs++];
      kept->data = memory(size + 1);
      kept->size = size;
      memcpy(kept->data, data, size);
      if (save_folder != NULL)
         save(kept);
   }
   free(current.data);
}

typedef struct {
   char *name;
   size_t size;
} file;

static file *files;
static size_t n_files;

static void find(const char *name)
{
   struct stat s;
   struct dirent **entries;
   if (stat(name, &s) != 0) {
      fprintf(stderr, "%s: %s: %s\n", program, name, strerror(errno));
      exit(2);
   }
   if (!S_ISDIR(s.st_mode)) {
      files = realloc(files, (n_files + 1) * sizeof *files);
      if (files == NULL)
         exit(2);
      files[n_files++] = (file){ strdup(name), (size_t)s.st_size };
      return;
   }
   const int n = scandir(name, &entries, NULL, alphasort);
   for (int i = 0; i < n; i++) {
      char path[4096];
      snprintf(path, sizeof path, "%s/%s", name, entries[i]->d_name);
      if (entries[i]->d_name[0] != '.')
         find(path);
      free(entries[i]);
   }
   free(entries);
}

/* What the fuzzer begins with if it is not told. */
static void find_corpus(void)
{
   char path[4096];
   snprintf(path, sizeof path, SOURCE_FOLDER "/tests/fuzz/corpus/%s",
            program + strlen("fuzz_"));
   if (access(path, F_OK) == 0)
      find(path);
   if (fuzz_more != NULL) {
      snprintf(path, sizeof path, SOURCE_FOLDER "/%s", fuzz_more);
      find(path);
   }
}

/* Small ones first: what they reach, large ones need not be kept for. */
static int by_size(const void *a, const void *b)
{
   const file *const x = a, *const y = b;
   return x->size != y->size ? (x->size > y->size) - (x->size < y->size)
                             : strcmp(x->name, y->name);
}

static void run_files(void)
{
   if (n_files == 0) {
      run("", 0);
      return;
   }
   char *const data = memory(MAX_FILE);
   qsort(files, n_files, sizeof *files, by_size);
   for (size_t i = 0; i < n_files; i++) {
      FILE *const f = fopen(files[i].name, "rb");
      if (f == NULL) {
         fprintf(stderr, "%s: %s: %s\n", program, files[i].name,
                 strerror(errno));
         exit(2);
      }
      set_alarm(TOO_SLOW);
      run(data, fread(data, 1, MAX_FILE, f));
      fclose(f);
   }
   free(data);
}

/* --- Changes --- */

static uint64_t state;

static size_t below(size_t n)
{
   state ^= state >> 12;
   state ^= state << 25;
   state ^= state >> 27;
   return (size_t)(state * UINT64_C(0x2545F4914F6CDD1D) >> 33) % n;
}

/* Puts n bytes in the place of `gone` bytes at `at`. */
static void replace(input *i, size_t at, size_t gone, const char *with,
                    size_t n)
{
   if (i->size - gone + n > MAX_SIZE)
      return;
   memmove(i->data + at + n, i->data + at + gone, i->size - at - gone);
   memcpy(i->data + at, with, n);
   i->size = i->size - gone + n;
}

/* From a random place to the end of its word or line. */
static size_t piece(const input *i, const char *ends, size_t *at)
{
   *at = below(i->size);
   while (*at > 0 && strchr(ends, i->data[*at - 1]) == NULL)
      --*at;
   size_t end = *at;
   while (end < i->size && strchr(ends, i->data[end]) == NULL)
      end++;
   return end - *at;
}

static const char *some_word(void)
{
   size_t n = 0;
   while (fuzz_words[n] != NULL)
      n++;
   return n > 0 ? fuzz_words[below(n)] : "";
}

static void change(input *i)
{
   static char copy[MAX_SIZE];
   static const char words[] = " \t\n+,:|", lines[] = "\n";
   size_t at, n;
   char byte;
   if (i->size == 0 && fuzz_words[0] == NULL) {
      for (n = 1 + below(64); i->size < n; i->size++)
         i->data[i->size] = (char)below(256);
      return;
   }
   if (i->size == 0) {
      const char *const word = some_word();
      replace(i, 0, 0, word, strlen(word));
      return;
   }
   switch (below(12)) {
   case 0:
      i->data[below(i->size)] ^= (char)(1 << below(8));
      break;
   case 1:
      i->data[below(i->size)] = (char)below(256);
      break;
   case 2:
      byte = (char)below(256);
      replace(i, below(i->size + 1), 0, &byte, 1);
      break;
   case 3:
      at = below(i->size);
      replace(i, at, below(i->size - at) % 64 + 1, "", 0);
      break;
   case 4:
      i->size = below(i->size);
      break;
   case 5: {
      const char *const word = some_word();
      replace(i, below(i->size + 1), 0, word, strlen(word));
      break;
   }
   case 6: {
      const char *const word = some_word();
      n = piece(i, words, &at);
      replace(i, at, n, word, strlen(word));
      break;
   }
   case 7:
      n = piece(i, lines, &at);
      replace(i, at, n + (at + n < i->size), "", 0);
      break;
   case 8:
   case 9: {
      /* A line of this or another input in another place. */
      const input *const from = below(2) ? i : &inputs[below(n_inputs)];
      if (from->size == 0 || from->size > MAX_SIZE)
         break;
      n = piece(from, lines, &at);
      n += at + n < from->size;
      memcpy(copy, from->data + at, n);
      piece(i, lines, &at);
      replace(i, at, 0, copy, n);
      break;
   }
   case 10: {
      /* The beginning of this and the end of another one. */
      const input *const from = &inputs[below(n_inputs)];
      if (from->size == 0 || from->size > MAX_SIZE)
         break;
      at = below(from->size);
      memcpy(copy, from->data + at, from->size - at);
      const size_t cut = below(i->size);
      replace(i, cut, i->size - cut, copy, from->size - at);
      break;
   }
   default:
      /* A digit more, or a number of nines. */
      n = piece(i, words, &at);
      replace(i, at + n, 0, "99999999999999999999", 1 + below(20));
      break;
   }
}

static void run_changed(uint64_t runs, time_t seconds)
{
   static char data[MAX_SIZE];
   const time_t end = seconds > 0 ? time(NULL) + seconds : 0;
   uint64_t done = 0;
   for (; end == 0 ? done < runs : time(NULL) < end; done++) {
      /* What was found last is the least explored. */
      const size_t oldest = below(2) ? 0 : n_inputs - n_inputs / 8;
      const input *const from =
         &inputs[oldest + below(n_inputs - oldest == 0 ? 1
                                                       : n_inputs - oldest)];
      input i = { data, from->size < MAX_SIZE ? from->size : MAX_SIZE };
      if (i.size > 0) /* an empty input has no memory */
         memcpy(data, from->data, i.size);
      for (size_t n = 1 + below(6); n > 0; n--)
         change(&i);
      if (done % 16 == 0)
         set_alarm(TOO_SLOW);
      run(i.data, i.size);
      if (seconds > 0 && done % 2000000 == 1999999)
         fprintf(stderr, "%s: %llu runs, %zu inputs\n", program,
                 (unsigned long long)done + 1, n_inputs);
   }
   set_alarm(0);
   printf("%s: %zu files, %llu runs, %zu inputs of use, nothing wrong\n",
          program, n_files, (unsigned long long)done, n_inputs);
}

static int option(const char *argument, const char *name, const char **value)
{
   const size_t n = strlen(name);
   if (strncmp(argument, name, n) != 0)
      return 0;
   *value = argument + n;
   return 1;
}

int main(int argc, char **argv)
{
   uint64_t runs = 0;
   time_t seconds = 0;
   int named = 0;
   state = 1;
   program = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
   for (int i = 1; i < argc; i++) {
      const char *value;
      if (option(argv[i], "--runs=", &value))
         runs = strtoull(value, NULL, 10);
      else if (option(argv[i], "--seconds=", &value))
         seconds = (time_t)strtoul(value, NULL, 10);
      else if (option(argv[i], "--seed=", &value))
         state = strtoull(value, NULL, 10) * 2 + 1;
      else if (option(argv[i], "--save=", &value))
         save_folder = value;
      else {
         named = 1;
         find(argv[i]);
      }
   }
   if (strncmp(program, "fuzz_", 5) != 0) {
      fprintf(stderr, "%s: the program must be called fuzz_NAME\n", program);
      return 2;
   }
   if (!named)
      find_corpus();
   __sanitizer_set_death_callback(keep_crash);
   signal(SIGVTALRM, on_alarm);
   run_files();
   run_changed(runs, seconds);
   return 0;
}
