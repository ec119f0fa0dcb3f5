/* Uses libsto rightly and wrongly, and aborts if an answer is not as expected. The argument is an empty folder. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                      \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                 \
      abort();                                                                                \
    }                                                                                         \
  } while (0)

static const char *const STACKS = "main;parse;read 300\nmain;render 500\n";
static const char *const TOP = "{\"question\": \"top\", \"named\": \"v1\"}";

/* Checks the error's class and a part of its message, and frees it. */
static void expect(sto_error *error, sto_class class, const char *part) {
  CHECK(error);
  CHECK(sto_error_message(error));
  if (sto_error_class(error) != class || !strstr(sto_error_message(error), part)) {
    fprintf(stderr, "expected `%s`: %s\n", part, sto_error_message(error));
    abort();
  }
  sto_error_free(error);
}

static char *ingest(sto_store *store, const char *stacks, const char *options, sto_error **error) {
  return sto_ingest_bytes(store, "a.folded", stacks, strlen(stacks), options, error);
}

static sto_store *filled_store(void) {
  sto_error *error;
  sto_store *store = sto_open_in_memory(&error);
  CHECK(store && !error);
  char *report = ingest(store, STACKS, "{\"program\": \"demo\", \"build\": \"v1\"}", &error);
  CHECK(report && !error);
  CHECK(strstr(report, "\"sto.ingest/1\""));
  sto_text_free(report);
  return store;
}

static void answers_questions(void) {
  sto_error *error;
  sto_store *store = filled_store();
  char *answer = sto_ask(store, TOP, &error);
  CHECK(answer && !error);
  CHECK(strstr(answer, "\"sto.top/1\"") && strstr(answer, "render"));
  sto_text_free(answer);
  sto_close(store);
}

static void creates_store_with_first_recording(const char *folder) {
  sto_error *error;
  char path[4096];
  snprintf(path, sizeof path, "%s/store", folder);
  sto_store *store = sto_open(path, &error);
  CHECK(store && !error);
  CHECK(!sto_ask(store, TOP, &error));
  expect(error, STO_CLASS_NOT_FOUND, "");
  char *report = ingest(store, STACKS, "{\"build\": \"v1\"}", &error);
  CHECK(report && !error);
  sto_text_free(report);
  sto_close(store);

  store = sto_open(path, &error);
  CHECK(store && !error);
  char *answer = sto_ask(store, TOP, &error);
  CHECK(answer && !error);
  sto_text_free(answer);
  sto_close(store);
}

static void null_is_an_error(void) {
  sto_error *error = NULL;
  CHECK(!sto_open(NULL, &error));
  expect(error, STO_CLASS_INVALID, "`path` is NULL");
  sto_store *store = filled_store();
  CHECK(!sto_ask(store, NULL, &error));
  expect(error, STO_CLASS_INVALID, "`question` is NULL");
  CHECK(!sto_ask(NULL, TOP, &error));
  expect(error, STO_CLASS_INVALID, "`store` is NULL or closed");
  CHECK(!sto_ingest_file(store, NULL, NULL, &error));
  expect(error, STO_CLASS_INVALID, "`path` is NULL");
  CHECK(!sto_ingest_bytes(store, "a", NULL, 0, NULL, &error));
  expect(error, STO_CLASS_INVALID, "`bytes` is NULL");
  CHECK(!sto_ingest_bytes(store, NULL, STACKS, 1, NULL, &error));
  expect(error, STO_CLASS_INVALID, "`name` is NULL");
  CHECK(!sto_ingest_bytes(store, "a", STACKS, SIZE_MAX, NULL, &error));
  expect(error, STO_CLASS_INVALID, "`length`");
  struct ArrowArrayStream rows;
  CHECK(!sto_sql(store, NULL, &rows, &error));
  expect(error, STO_CLASS_INVALID, "`query` is NULL");
  CHECK(!rows.release);
  CHECK(!sto_sql(store, "SELECT 1", NULL, &error));
  expect(error, STO_CLASS_INVALID, "`rows` is NULL");

  /* Without a place for the error. */
  CHECK(!sto_open(NULL, NULL));
  CHECK(!sto_ask(store, "", NULL));
  CHECK(!sto_sql(store, "", &rows, NULL));

  sto_close(store);
  sto_close(NULL);
  sto_cancel(NULL);
  sto_text_free(NULL);
  sto_error_free(NULL);
  CHECK(sto_error_class(NULL) == STO_CLASS_NONE);
  CHECK(!sto_error_message(NULL) && !sto_error_path(NULL) && !sto_error_place(NULL));
}

static void text_of_other_encodings_is_an_error(void) {
  sto_error *error;
  CHECK(!sto_open("caf\xe9", &error));
  expect(error, STO_CLASS_INVALID, "`path` is not UTF-8");
  sto_store *store = filled_store();
  CHECK(!sto_ask(store, "\xff", &error));
  expect(error, STO_CLASS_INVALID, "`question` is not UTF-8");
  sto_close(store);
}

static void invalid_json_is_an_error_with_a_place(void) {
  sto_error *error;
  sto_store *store = filled_store();
  CHECK(!sto_ask(store, "{\"question\": \"top\",\n \"named\": }", &error));
  CHECK(!strcmp(sto_error_place(error), "line 2 column 11"));
  CHECK(!sto_error_path(error));
  expect(error, STO_CLASS_INVALID, "`question`");
  CHECK(!sto_ask(store, "{\"question\": \"tap\"}", &error));
  expect(error, STO_CLASS_INVALID, "unknown variant `tap`");
  CHECK(!sto_ask(store, "{\"question\": \"top\", \"name\": \"v1\"}", &error));
  expect(error, STO_CLASS_INVALID, "unknown field `name`");
  CHECK(!ingest(store, STACKS, "{\"version\": \"v2\"}", &error));
  expect(error, STO_CLASS_INVALID, "`options`: unknown field `version`");
  CHECK(!ingest(store, STACKS, "{\"slices\": 0}", &error));
  expect(error, STO_CLASS_INVALID, "`slices` is 0");
  CHECK(!ingest(store, STACKS, "{\"format\": \"doc\"}", &error));
  expect(error, STO_CLASS_INVALID, "there is no `doc`");
  sto_close(store);
}

static void errors_name_path_and_place(void) {
  sto_error *error;
  sto_store *store = filled_store();
  CHECK(!sto_ask(store, "{\"question\": \"top\", \"named\": \"v2\"}", &error));
  expect(error, STO_CLASS_NOT_FOUND, "v2");
  CHECK(!sto_ingest_file(store, "/missing/perf.data", NULL, &error));
  CHECK(!strcmp(sto_error_path(error), "/missing/perf.data"));
  expect(error, STO_CLASS_NOT_FOUND, "/missing/perf.data");
  CHECK(!ingest(store, "main;read 1\nmain;read x\n", "{\"format\": \"folded\"}", &error));
  CHECK(!strcmp(sto_error_path(error), "a.folded"));
  CHECK(strstr(sto_error_place(error), "2"));
  expect(error, STO_CLASS_INVALID, "a.folded");
  sto_close(store);
}

static void sql_only_reads(void) {
  sto_error *error;
  struct ArrowArrayStream rows;
  sto_store *store = filled_store();
  CHECK(!sto_sql(store, "SELECT FROM profile", &rows, &error));
  CHECK(strstr(sto_error_place(error), "\n       ^"));
  expect(error, STO_CLASS_INVALID, "syntax error");
  CHECK(!sto_sql(store, "DELETE FROM profile", &rows, &error));
  expect(error, STO_CLASS_FORBIDDEN, "read-only");
  CHECK(!sto_sql(store, "SELECT 1; SELECT 2", &rows, &error));
  expect(error, STO_CLASS_INVALID, "several statements");
  CHECK(!sto_sql(store, " -- nothing", &rows, &error));
  expect(error, STO_CLASS_INVALID, "the query is empty");
  CHECK(!sto_sql(store, "BEGIN", &rows, &error));
  expect(error, STO_CLASS_FORBIDDEN, "read-only");
  CHECK(!rows.release);
  sto_close(store);
}

/* Checks the type of a column and the buffer of its values. */
static void expect_column(const struct ArrowSchema *type, const struct ArrowArray *column,
                          const char *format, const void *values, size_t length) {
  CHECK(!strcmp(type->format, format));
  CHECK(column->length == 2);
  CHECK(!memcmp(column->buffers[column->n_buffers - 1], values, length));
}

static void columns_have_the_type_of_their_cells(void) {
  sto_error *error;
  struct ArrowArrayStream rows;
  sto_store *store = filled_store();
  const char *query = "SELECT 1, 2, 1.5, 'a', x'00ff', NULL, 1 UNION ALL SELECT 3, NULL, 7, 'bc', x'01', NULL, 'x'";
  CHECK(sto_sql(store, query, &rows, &error) && !error);
  /* A stream does not depend on its store. */
  sto_close(store);
  struct ArrowSchema schema;
  struct ArrowArray batch;
  CHECK(!rows.get_schema(&rows, &schema));
  CHECK(!rows.get_next(&rows, &batch));
  CHECK(batch.length == 2 && batch.n_children == 7 && schema.n_children == 7);
  struct ArrowSchema **types = schema.children;
  struct ArrowArray **columns = batch.children;
  const int64_t integers[] = {1, 3};
  expect_column(types[0], columns[0], "l", integers, sizeof integers);
  const int64_t first[] = {2};
  expect_column(types[1], columns[1], "l", first, sizeof first);
  CHECK(columns[1]->null_count == 1 && *(const uint8_t *)columns[1]->buffers[0] == 1);
  const double reals[] = {1.5, 7};
  expect_column(types[2], columns[2], "g", reals, sizeof reals);
  expect_column(types[3], columns[3], "U", "abc", 3);
  expect_column(types[4], columns[4], "Z", "\0\xff\1", 3);
  CHECK(!strcmp(types[5]->format, "n") && columns[5]->null_count == 2);
  expect_column(types[6], columns[6], "U", "1x", 2);
  batch.release(&batch);
  CHECK(!rows.get_next(&rows, &batch));
  CHECK(!batch.release);
  schema.release(&schema);
  rows.release(&rows);
}

static void closed_stores_are_errors(void) {
  sto_error *error;
  sto_store *store = filled_store();
  sto_store *other = filled_store();
  sto_close(store);
  sto_close(store);
  CHECK(!sto_ask(store, TOP, &error));
  expect(error, STO_CLASS_INVALID, "`store` is NULL or closed");
  CHECK(!sto_ask((sto_store *)&error, TOP, &error));
  expect(error, STO_CLASS_INVALID, "`store` is NULL or closed");
  char *answer = sto_ask(other, TOP, &error);
  CHECK(answer && !error);
  sto_text_free(answer);
  sto_close(other);
}

static void *ask_often(void *store) {
  for (int i = 0; i < 10; i++) {
    sto_error *error;
    char *answer = sto_ask((sto_store *)store, TOP, &error);
    CHECK(answer && !error);
    CHECK(strstr(answer, "render"));
    sto_text_free(answer);
  }
  return NULL;
}

static void threads_share_a_store(void) {
  sto_error *error;
  sto_store *store = filled_store();
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) {
    CHECK(!pthread_create(&threads[i], NULL, ask_often, store));
  }
  char *report = ingest(store, "main;write 1\n", "{\"program\": \"demo\", \"build\": \"v2\"}", &error);
  CHECK(report && !error);
  sto_text_free(report);
  for (int i = 0; i < 2; i++) {
    CHECK(!pthread_join(threads[i], NULL));
  }
  sto_close(store);
}

static atomic_bool ended;

/* Counts without end. */
static void *count(void *store) {
  sto_error *error;
  struct ArrowArrayStream rows;
  const char *query = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
  CHECK(!sto_sql((sto_store *)store, query, &rows, &error));
  expect(error, STO_CLASS_CANCELLED, "cancel");
  ended = true;
  return NULL;
}

static void calls_are_cancelled_by_other_threads(void) {
  sto_error *error;
  sto_store *store = filled_store();
  pthread_t thread;
  CHECK(!pthread_create(&thread, NULL, count, store));
  while (!ended) {
    /* Before the query begins, there is nothing to cancel. */
    sto_cancel(store);
    sched_yield();
  }
  CHECK(!pthread_join(thread, NULL));
  char *answer = sto_ask(store, TOP, &error);
  CHECK(answer && !error);
  sto_text_free(answer);
  sto_close(store);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  CHECK(strchr(sto_version(), '.'));
  answers_questions();
  creates_store_with_first_recording(argv[1]);
  null_is_an_error();
  text_of_other_encodings_is_an_error();
  invalid_json_is_an_error_with_a_place();
  errors_name_path_and_place();
  sql_only_reads();
  columns_have_the_type_of_their_cells();
  closed_stores_are_errors();
  threads_share_a_store();
  calls_are_cancelled_by_other_threads();
  return 0;
}
