#include "sqlite3.h"
#include <stdio.h>
#include <stdlib.h>
static int row(void *sum, int n, char **cells, char **names) {
  for (int i = 0; i < n; i++) *(long *)sum += cells[i] ? atol(cells[i]) : 1;
  return 0;
}
int main(int argc, char **argv) {
  int rows = atoi(argv[1]);
  sqlite3 *db;
  long sum = 0;
  char text[200];
  sqlite3_open(":memory:", &db);
  sqlite3_exec(db, "create table item(id integer primary key, name text, kind int, price real);"
    "create table sale(item int, day int, amount int); begin", 0, 0, 0);
  unsigned x = 1;
  for (int i = 0; i < rows; i++) {
    x = x * 1664525u + 1013904223u;
    snprintf(text, sizeof text, "insert into item values(%d, 'name %x of %d', %d, %d.5)", i, x, i % 97, x >> 25, x >> 20);
    sqlite3_exec(db, text, 0, 0, 0);
    snprintf(text, sizeof text, "insert into sale values(%d, %d, %d)", (x >> 8) % (i + 1), x >> 23, x >> 28);
    sqlite3_exec(db, text, 0, 0, 0);
  }
  sqlite3_exec(db, "commit; create index day on sale(day); create index name on item(name)", 0, 0, 0);
  const char *queries[] = {
    "select kind, sum(price), count(*) from item group by kind order by 2",
    "select day, sum(amount * price) from sale join item on item = id group by day order by 2 desc limit 9",
    "select count(*) from item where name like '%ab%of 1%'",
    "select max(length(name || kind)) from item where upper(name) > 'NAME 5'",
    "select name, price from item order by price, name desc limit 20",
    "select count(distinct substr(name, 6, 3)) from item",
  };
  for (int i = 0; i < 6; i++) sqlite3_exec(db, queries[i], row, &sum, 0);
  for (int i = 0; i < 100; i++) {
    snprintf(text, sizeof text, "select count(*), sum(amount) from sale where day between %d and %d", i, i + 5);
    sqlite3_exec(db, text, row, &sum, 0);
  }
  printf("%ld\n", sum);
}
