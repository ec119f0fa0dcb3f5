/* Prints the functions that cost most of a recording, and what got slower in a newer one:
 *
 *     top OLD [NEW]
 *
 * Compile it with: cc top.c -o top $(pkg-config --cflags --libs sto)
 */
#include <inttypes.h>
#include <sto.h>
#include <stdio.h>

static const char *const MOST_EXPENSIVE =
    "SELECT round(100.0 * self / sum(self) OVER (), 1) AS percent, function"
    "  FROM function_cost JOIN executable ON build = id WHERE version = 'old'"
    "  ORDER BY self DESC LIMIT 5";

static const char *const SLOWER =
    "SELECT round(change, 1) AS times, function, reason FROM find_regressions('old', 'new')";

/* Prints a cell of a column. */
static void print_cell(const char *format, const struct ArrowArray *column, int64_t row) {
  row += column->offset;
  const uint8_t *valid = *format == 'n' ? NULL : (const uint8_t *)column->buffers[0];
  if (*format == 'n' || (valid && !(valid[row / 8] >> row % 8 & 1))) {
    printf("-\t");
  } else if (*format == 'l') {
    printf("%" PRId64 "\t", ((const int64_t *)column->buffers[1])[row]);
  } else if (*format == 'g') {
    printf("%.1f\t", ((const double *)column->buffers[1])[row]);
  } else if (*format == 'U') {
    const int64_t *ends = (const int64_t *)column->buffers[1];
    const char *text = (const char *)column->buffers[2];
    printf("%.*s\t", (int)(ends[row + 1] - ends[row]), text + ends[row]);
  }
}

/* Prints the rows of a query as lines. */
static bool print_rows(sto_store *store, const char *query, sto_error **error) {
  struct ArrowArrayStream rows;
  if (!sto_sql(store, query, &rows, error)) {
    return false;
  }
  struct ArrowSchema schema;
  struct ArrowArray batch;
  if (rows.get_schema(&rows, &schema) == 0) {
    while (rows.get_next(&rows, &batch) == 0 && batch.release) {
      for (int64_t row = 0; row < batch.length; row++) {
        for (int64_t i = 0; i < batch.n_children; i++) {
          print_cell(schema.children[i]->format, batch.children[i], batch.offset + row);
        }
        printf("\n");
      }
      batch.release(&batch);
    }
    schema.release(&schema);
  }
  rows.release(&rows);
  return true;
}

/* Stores a recording. */
static bool add(sto_store *store, const char *path, const char *options, sto_error **error) {
  char *report = sto_ingest_file(store, path, options, error);
  bool done = report != NULL;
  sto_text_free(report);
  return done;
}

int main(int argc, char **argv) {
  if (argc != 2 && argc != 3) {
    fprintf(stderr, "usage: top OLD [NEW]\n");
    return 2;
  }
  sto_error *error = NULL;
  sto_store *store = sto_open_in_memory(&error);
  bool done = store && add(store, argv[1], "{\"build\": \"old\"}", &error) &&
              print_rows(store, MOST_EXPENSIVE, &error);
  if (done && argc == 3) {
    done = add(store, argv[2], "{\"build\": \"new\"}", &error) && print_rows(store, SLOWER, &error);
  }
  if (!done) {
    fprintf(stderr, "top: %s\n", sto_error_message(error));
  }
  sto_error_free(error);
  sto_close(store);
  return done ? 0 : 1;
}
