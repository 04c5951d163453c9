internal import CSQLite

/// Settings of the SQLite library for the whole process.
package enum SQLiteLibrary {
    /// Stops SQLite from counting the memory it allocates: each allocation of every connection would take one lock.
    ///
    /// Call it before the process opens its first connection, on its only thread. Returns false, and changes nothing,
    /// once there was a connection.
    @discardableResult
    package static func stopCountingMemory() -> Bool { csqlite_stop_counting_memory() == SQLITE_OK }

    /// Keeps what does not fit into memory, such as large sorts, in files in this folder: they have records in them, so they
    /// belong on the same disk as the database. SQLite unlinks each as soon as it is open. If the folder cannot be written,
    /// SQLite looks for another (https://sqlite.org/tempfiles.html).
    package static func keepTemporaryFiles(in folder: String) { csqlite_use_temporary_folder(folder) }

    /// In MiB. Several times what a command needs: its caches are small, and its sorts go to files.
    static let memoryOfCommand = 256

    /// Limits the memory that SQLite takes in this process: expressions in a database that another program has changed
    /// could take all of it. Has no effect after `stopCountingMemory`.
    package static func limitMemory() { sqlite3_hard_heap_limit64(Int64(memoryOfCommand) << 20) }
}
