internal import CSQLite

/// Settings of the SQLite library for the whole process.
package enum SQLiteLibrary {
    /// Stops SQLite from counting the memory it allocates: each allocation of every connection would take one lock.
    ///
    /// Call it before the process opens its first connection, on its only thread. Returns false, and changes nothing,
    /// once there was a connection.
    @discardableResult
    package static func stopCountingMemory() -> Bool { csqlite_stop_counting_memory() == SQLITE_OK }
}
