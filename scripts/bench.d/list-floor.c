/* What SQLite itself takes of the processor for the rows of a list: list-floor DATABASE SQL SECONDS prints microseconds, the
   median. Every row's text is looked at, nothing is copied. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static int ascending(const void *a, const void *b) {
    double difference = *(const double *)a - *(const double *)b;
    return difference < 0 ? -1 : difference > 0;
}

int main(int count, char **arguments) {
    static double times[1000000];
    sqlite3 *db;
    sqlite3_stmt *statement;
    if (count != 4 || sqlite3_open_v2(arguments[1], &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, 0) != SQLITE_OK) return 1;
    sqlite3_exec(db, "PRAGMA cache_size = -2000", 0, 0, 0);
    if (sqlite3_prepare_v2(db, arguments[2], -1, &statement, 0) != SQLITE_OK) {
        fprintf(stderr, "%s\n", sqlite3_errmsg(db));
        return 1;
    }
    double end = now() + atof(arguments[3]) * 1e6;
    size_t taken = 0, bytes = 0;
    for (double begin; (begin = now()) < end && taken < 1000000; taken++) {
        while (sqlite3_step(statement) == SQLITE_ROW)
            if (sqlite3_column_text(statement, 0)) bytes += sqlite3_column_bytes(statement, 0);
        sqlite3_reset(statement);
        times[taken] = now() - begin;
    }
    if (!bytes) return 1;
    qsort(times, taken, sizeof times[0], ascending);
    printf("%.3f\n", times[taken / 2]);
    return 0;
}
