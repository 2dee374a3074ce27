// The least that a loop can be: sleep until an absolute deadline, note how late it woke. What is
// skipped, and when, is as in realtime.Deadlines.
//
//     bare_loop PERIOD_NS SECONDS PRIORITY    (0: no real-time priority)
//
// Prints one JSON object: lateness in ns, skipped deadlines, seconds of processor and wall time.

#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static int64_t now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const int64_t period = atoll(argv[1]);
  const int64_t cycles = (int64_t)(atof(argv[2]) * 1e9) / period;
  const int priority = atoi(argv[3]);
  int64_t *lateness = calloc(cycles + 1, sizeof *lateness);
  if (lateness == NULL) return 3;
  if (priority > 0) {
    const struct sched_param wish = {.sched_priority = priority};
    if (sched_setscheduler(0, SCHED_FIFO, &wish)) return 4;
    mlockall(MCL_CURRENT | MCL_FUTURE);
  }
  const int64_t cpu = now(CLOCK_PROCESS_CPUTIME_ID), begun = now(CLOCK_MONOTONIC);
  int64_t next = begun + period, missed = 0, count = 0;
  while (count + missed < cycles) {
    const int64_t late = now(CLOCK_MONOTONIC) - next;
    if (late >= period) {
      missed += late / period;
      next += late / period * period;
    }
    const struct timespec deadline = {next / 1000000000, next % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);
    lateness[count++] = now(CLOCK_MONOTONIC) - next;
    next += period;
  }
  const double used = 1e-9 * (now(CLOCK_PROCESS_CPUTIME_ID) - cpu);
  const double wall = 1e-9 * (now(CLOCK_MONOTONIC) - begun);
  printf("{\"missed\": %lld, \"cpu\": %.9f, \"wall\": %.9f, \"samples\": {\"lateness\": [",
         (long long)missed, used, wall);
  for (int64_t k = 0; k < count; k++) printf(k ? ", %lld" : "%lld", (long long)lateness[k]);
  printf("]}}\n");
  return 0;
}
