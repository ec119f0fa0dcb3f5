#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns text that compresses like prose: words of a vocabulary, with falling frequency. */
char *make_text(size_t size);
