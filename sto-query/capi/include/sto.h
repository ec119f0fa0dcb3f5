/* libsto: stores profiles of programs, and tells what got slower between two builds, and why.
 *
 * Rules of all functions
 *
 * Functions that can fail take `error`, the address of a pointer, or NULL. They set `*error` to the reason, which
 * `sto_error_free` frees, and return NULL or false. If they succeed, they set it to NULL.
 *
 * Text is UTF-8 and ends with a zero byte; so do paths. NULL, text that is not UTF-8, JSON with unknown members and a closed
 * store are errors of the class `STO_CLASS_INVALID`. An argument may only be NULL without an error if its description says so.
 *
 * The caller owns what a function returns or writes, and frees it once: `char *` with `sto_text_free`, `sto_error *` with
 * `sto_error_free`, a stream with its own `release`, and a store with `sto_close`. Freeing NULL does nothing. A `const char *`
 * belongs to the library, or to the error that it was asked of. Arguments belong to the caller, and no function keeps them.
 *
 * Any thread may call any function at any time, also for the same store, which other threads may even close: a handle is a
 * number, not an address. An error or a stream is used by one thread at a time.
 *
 * No panic of Rust reaches the caller: it becomes an error of the class `STO_CLASS_INTERNAL`, after Rust has written its message
 * to standard error. If memory is exhausted, the process is aborted. Pointers to anything else than these rules say have
 * undefined behaviour, as everywhere in C.
 *
 * A test makes this file from sto-query/capi/src: STO_UPDATE_GOLDENS=1 cargo test -p sto-capi
 */


#ifndef STO_H
#define STO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

#endif /* ARROW_C_STREAM_INTERFACE */


/**
 * The class of an error: whose fault it is, and whether another attempt may succeed.
 */
typedef enum {
  /**
   * No error: the argument was `NULL`.
   */
  STO_CLASS_NONE,
  /**
   * Nothing has the name in the request: no build, function, event, label or file.
   */
  STO_CLASS_NOT_FOUND,
  /**
   * The request, or a file that it names, contradicts itself or the data.
   */
  STO_CLASS_INVALID,
  /**
   * The caller may not do this: SQL can only read.
   */
  STO_CLASS_FORBIDDEN,
  /**
   * Another process holds the store. The same call may succeed later.
   */
  STO_CLASS_BUSY,
  /**
   * The answer would take too much memory or space.
   */
  STO_CLASS_TOO_LARGE,
  /**
   * This library cannot do it: the data were written by a newer version, or a feature was left out.
   */
  STO_CLASS_UNSUPPORTED,
  /**
   * `sto_cancel` was called.
   */
  STO_CLASS_CANCELLED,
  /**
   * The system failed, stored data are damaged, or the library has a defect.
   */
  STO_CLASS_INTERNAL,
} sto_class;

/**
 * The reason why a call failed.
 */
typedef struct sto_error sto_error;

/**
 * An open store.
 */
typedef struct sto_store sto_store;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Returns the version of the library, such as `0.1.0`. It belongs to the library.
 */
const char *sto_version(void);

/**
 * Opens the store at a path: its folder, or its file. If it is missing, the first recording that is stored creates it.
 *
 * Close it with `sto_close`. Other processes may use the store at the same time.
 */
sto_store *sto_open(const char *path,
                    sto_error **error);

/**
 * Opens an empty store in memory. Close it with `sto_close`.
 */
sto_store *sto_open_in_memory(sto_error **error);

/**
 * Closes a store. Calls that use it in other threads end as usual.
 */
void sto_close(sto_store *store);

/**
 * Reads a recording in a file of any supported format, finds its symbols, and stores it.
 *
 * `options` is `NULL` or a JSON object with any of these members:
 *
 * - `program`, `build`, `revision`, `benchmark`: names, as text. By default, the program is the recorded one, and
 *   the build is named after its GNU build id.
 * - `labels`: an object of texts. `metrics`: an object of numbers.
 * - `recorded`: the time of the recording in seconds since 1970.
 * - `slices`: also keep costs by thread and label, in this number of slices of time.
 * - `format`: the name of the format, if it is not detected.
 * - `split_programs`: store each program of the recording as a profile of its own.
 * - `allow_truncated`: read a truncated file as far as possible.
 * - `strict`: refuse recordings of low quality.
 *
 * Returns a report as JSON, like `sto ingest --report json`, with warnings and symbols that were not found.
 */
char *sto_ingest_file(sto_store *store,
                      const char *path,
                      const char *options,
                      sto_error **error);

/**
 * Like `sto_ingest_file`, for the contents of a file in memory. `name` stands for the path in messages.
 */
char *sto_ingest_bytes(sto_store *store,
                       const char *name,
                       const void *bytes,
                       size_t length,
                       const char *options,
                       sto_error **error);

/**
 * Answers a question, such as
 *
 * ```json
 * { "question": "top", "named": "v2", "limit": 10 }
 * { "question": "check", "baseline": { "any": "v1" }, "candidate": { "file": "perf.data" } }
 * ```
 *
 * A build is named as in commands: `v2`, `server@v2`, `@newest`, a tag, or the path of a recording, which need not be
 * stored. `sto serve` lists all questions with their members at `/api/v1/openapi.json`.
 *
 * Returns the answer as JSON; its member `schema` has the name and version of its schema.
 */
char *sto_ask(sto_store *store,
              const char *question,
              sto_error **error);

/**
 * Runs one statement of SQL on the tables of a store, which `sto sql .schema` lists.
 *
 * On success, sets `*rows` to a stream of one batch, which the caller releases. It does not depend on the store any
 * more. A column has the narrowest type that all of its cells have: null (`n`), integer (`l`), floating point (`g`),
 * bytes (`Z`) or text (`U`). On failure, sets `rows->release` to `NULL`.
 */
bool sto_sql(sto_store *store,
             const char *query,
             struct ArrowArrayStream *rows,
             sto_error **error);

/**
 * Cancels all calls that use this store now, in any thread: they fail with the class `STO_CLASS_CANCELLED` at their
 * next check. Later calls are not affected. May not be called by a signal handler.
 */
void sto_cancel(sto_store *store);

/**
 * Frees text that a function returned as `char *`.
 */
void sto_text_free(char *text);

/**
 * Returns the class of an error.
 */
sto_class sto_error_class(const sto_error *error);

/**
 * Returns the message of an error, which names the path and the place, and often the remedy. It belongs to the error.
 */
const char *sto_error_message(const sto_error *error);

/**
 * Returns the path of the file or folder that an error is about, or `NULL`. It belongs to the error.
 */
const char *sto_error_path(const sto_error *error);

/**
 * Returns the place in the file, the JSON or the SQL that an error is about, such as `line 12`, or `NULL`. In SQL it
 * is the line, and a line with a caret below it. It belongs to the error.
 */
const char *sto_error_place(const sto_error *error);

/**
 * Frees an error.
 */
void sto_error_free(sto_error *error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* STO_H */
