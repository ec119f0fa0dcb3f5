#include "text.h"
#include "bzlib.h"
int main(int argc, char **argv) {
  unsigned size = atoi(argv[1]), packed = size + size / 50 + 600, back = size;
  char *text = make_text(size), *pack = malloc(packed), *out = malloc(size);
  BZ2_bzBuffToBuffCompress(pack, &packed, text, size, 5, 0, 0);
  for (int i = 0; i < 4; i++) { back = size; BZ2_bzBuffToBuffDecompress(out, &back, pack, packed, 0, 0); }
  printf("%u %d\n", packed, memcmp(text, out, size));
}
