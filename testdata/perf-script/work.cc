// Two threads, a thread name with a space, inlined and recursive functions.
#include <pthread.h>
#include <cstdio>
#include <cmath>
#include <vector>
#include <algorithm>
namespace geometry {
struct Point { double x, y; };
static inline __attribute__((always_inline)) double square(double v) { return std::sqrt(v * v + 1.0) * v; }
__attribute__((noinline)) double length(const Point &p) { double s = 0; for (int i = 0; i < 200; i++) s += square(p.x + i) + square(p.y); return s; }
}
__attribute__((noinline)) double recurse(int depth, double v) {
  if (depth == 0) { double s = 0; for (int i = 0; i < 50; i++) s += geometry::length({v, v + i}); return s; }
  double r = recurse(depth - 1, v + 1); asm volatile("" : : "r"(&r) : "memory"); return r + depth;
}
static void *worker(void *) {
  pthread_setname_np(pthread_self(), "pool worker 1");
  double s = 0; for (int i = 0; i < 800; i++) s += recurse(3, i);
  return new double(s);
}
int main() {
  pthread_t t; void *r; pthread_create(&t, nullptr, worker, nullptr);
  std::vector<double> v; double s = 0;
  for (int i = 0; i < 300; i++) { v.push_back(recurse(1, i)); std::sort(v.begin(), v.end(), [](double a, double b) { return a > b; }); }
  FILE *f = fopen("/dev/null", "w"); for (int i = 0; i < 20000; i++) { fprintf(f, "%d\n", i); fflush(f); }
  pthread_join(t, &r); s = *(double *)r; printf("%g\n", s);
}
