// Functions of SQLite with a variable number of arguments, which Swift cannot call.
#pragma once
#include <sqlite3.h>

/// Stops SQLite from counting the memory it allocates (`SQLITE_CONFIG_MEMSTATUS`); returns a result code.
static inline int csqlite_stop_counting_memory(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
