/* How far a simulation is, which several processes may share: a bar with the time left.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_PROGRESS_H
#define TG_SIMULATE_PROGRESS_H

/* Begins, with so many parts of equal size, of which this process does the first; before others are
   started. */
void tg_progress_begin(unsigned n_parts);

/* In a process for another part: it tells how far it is, and shows nothing. */
void tg_progress_of(unsigned part);

/* So much of the part has been done, 0.0 to 1.0; less than 0: that is not known. */
void tg_progress_note(double done);

/* Waits until there is something to read, and shows how far all parts are. */
void tg_progress_await(int fd);

#endif
