// Calls of every kind that uftrace records: recursion, library functions, longjmp, threads, fork and exec.
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRACED __attribute__((noinline))

static jmp_buf env;

TRACED int leaf(int x) {
  asm volatile("");
  return x * 7 + 1;
}

namespace counting {
TRACED int recurse(int n) {
  asm volatile("");
  return n == 0 ? leaf(n) + leaf(1) : recurse(n - 1) + leaf(n);
}
} // namespace counting

TRACED void deep(int n) {
  asm volatile("");
  if (n == 0)
    longjmp(env, 1);
  deep(n - 1);
  asm volatile("");
}

extern "C" TRACED void *work(void *times) {
  long sum = 0;
  for (long i = 0; i < (long)times; i++) {
    char *text = (char *)malloc(10);
    strcpy(text, times ? "traced" : "");
    sum += counting::recurse(2) + atoi(text);
    free(text);
  }
  return (void *)sum;
}

int main(int argc, char **argv) {
  if (argc > 1)
    return work((void *)1L) == nullptr;
  if (setjmp(env) == 0)
    deep(2);
  pthread_t thread;
  pthread_create(&thread, nullptr, work, (void *)3L);
  work((void *)2L);
  pthread_join(thread, nullptr);
  pid_t child = fork();
  if (child == 0) {
    leaf(3);
    execl(argv[0], argv[0], "again", (char *)nullptr);
  }
  waitpid(child, nullptr, 0);
}
