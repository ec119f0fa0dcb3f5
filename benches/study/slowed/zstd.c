#include "text.h"
#include "zstd.h"
int main(int argc, char **argv) {
  size_t size = atoi(argv[1]), room = ZSTD_compressBound(size), packed = 0;
  char *text = make_text(size), *pack = malloc(room), *out = malloc(size);
  int levels[] = {1, 3, 6, 9, 16};
  for (int i = 0; i < 5; i++) {
    packed = ZSTD_compress(pack, room, text, i == 4 ? size / 4 : size, levels[i]);
    for (int j = 0; j < 6; j++) ZSTD_decompress(out, size, pack, packed);
  }
  printf("%zu\n", packed);
}
