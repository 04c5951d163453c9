// Functions of SQLite with a variable number of arguments, which Swift cannot call.
#pragma once
#include <sqlite3.h>

/// Stops SQLite from counting the memory it allocates (`SQLITE_CONFIG_MEMSTATUS`); returns a result code.
static inline int csqlite_stop_counting_memory(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/// Makes the connection fail to read views, but for temporary ones (`SQLITE_DBCONFIG_ENABLE_VIEW`).
static inline void csqlite_refuse_views(sqlite3 *connection) {
    sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)0);
}

/// Lets the connection read views, as SQLite does at first.
static inline void csqlite_allow_views(sqlite3 *connection) {
    sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_VIEW, 1, (int *)0);
}

/// Makes the connection run no triggers (`SQLITE_DBCONFIG_ENABLE_TRIGGER`).
static inline void csqlite_refuse_triggers(sqlite3 *connection) {
    sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)0);
}
