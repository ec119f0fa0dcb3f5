#include "text.h"

char *make_text(size_t size) {
  char *text = malloc(size + 32);
  unsigned x = 7;
  for (size_t at = 0; at < size;) {
    x = x * 1664525u + 1013904223u;
    unsigned word = (x >> 16) % (1 + (x >> 8) % 5000), seed = word * 2654435761u + 1;
    for (unsigned n = 2 + word % 7; n; n--, seed = seed * 1664525u + 1013904223u) text[at++] = 'a' + (seed >> 24) % 26;
    text[at++] = x >> 31 ? ' ' : '\n';
  }
  return text;
}
