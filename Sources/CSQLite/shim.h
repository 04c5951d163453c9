// Functions of SQLite with a variable number of arguments, which Swift cannot call.
#pragma once
#include <sqlite3.h>

/// Stops SQLite from counting the memory it allocates (`SQLITE_CONFIG_MEMSTATUS`); returns a result code.
static inline int csqlite_stop_counting_memory(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/// Makes all connections put their temporary files into this folder while it can be written (`sqlite3_temp_directory`).
/// The path is copied.
static inline void csqlite_use_temporary_folder(const char *path) {
    // The mutex under which SQLite reads it.
    sqlite3_mutex *mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_VFS1);
    sqlite3_mutex_enter(mutex);
    sqlite3_free(sqlite3_temp_directory);
    sqlite3_temp_directory = sqlite3_mprintf("%s", path);
    sqlite3_mutex_leave(mutex);
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
