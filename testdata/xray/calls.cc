// Calls of every kind that XRay logs: recursion, tail calls, arguments, events, several threads.
#include <cstdlib>
#include <pthread.h>
#include <xray/xray_interface.h>
#include <xray/xray_log_interface.h>

#define TRACED __attribute__((noinline, xray_always_instrument))

TRACED int leaf(int x) {
  asm volatile("");
  return x * 7 + 1;
}

TRACED int twice(int x) { return leaf(x) + leaf(x + 1); }

// Ends as it calls leaf in its place.
TRACED int tail(int x) { return leaf(x + 3); }

namespace counting {
TRACED int recurse(int n) {
  asm volatile("");
  return n == 0 ? twice(n) : recurse(n - 1) + leaf(n);
}
} // namespace counting

TRACED __attribute__((xray_log_args(1))) int with_argument(int n) {
  __xray_customevent("event", 5);
  return leaf(n) + tail(n);
}

TRACED void *work(void *times) {
  long sum = 0;
  for (long i = 0; i < (long)times; i++)
    sum += with_argument(i) + counting::recurse(3);
  return (void *)sum;
}

int main() {
  const char *fdr = getenv("FDR");
  if (fdr) {
    __xray_log_select_mode("xray-fdr");
    __xray_log_init_mode("xray-fdr", fdr);
    __xray_patch();
  }
  pthread_t threads[2];
  pthread_create(&threads[0], nullptr, work, (void *)5L);
  pthread_create(&threads[1], nullptr, work, (void *)3L);
  work((void *)2L);
  pthread_join(threads[0], nullptr);
  pthread_join(threads[1], nullptr);
  if (fdr) {
    __xray_log_finalize();
    __xray_log_flushLog();
  }
}
