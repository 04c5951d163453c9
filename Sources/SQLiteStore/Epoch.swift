package import GRDB
internal import Glibc
internal import SystemCalls

/// Names the file that numbered a sequence of changes, so that the numbers of two files are never mixed up.
///
/// Created with the file, and again when the file turns out to be a copy: a restored backup continues counting from
/// where it was taken, with numbers that clients have already seen.
package enum Epoch {
    package static func current(_ pool: DatabasePool, path: String) throws -> String {
        guard let file = stat(of: path) else {
            throw CacheError.unwritable("\(path) cannot be inspected (\(SystemError.last))")
        }
        let inode = "\(file.st_ino)"
        return try pool.write { db in
            let known = try Row.fetchAll(
                db, sql: "SELECT name, value FROM sync_setting WHERE name IN ('epoch', 'epoch_inode')")
            let settings = Dictionary(uniqueKeysWithValues: known.map { ($0[0] as String, $0[1] as String) })
            if let epoch = settings["epoch"], settings["epoch_inode"] == inode { return epoch }
            let epoch = try String.fetchOne(db, sql: "SELECT lower(hex(randomblob(8)))") ?? inode
            for (name, value) in [("epoch", epoch), ("epoch_inode", inode)] {
                try db.execute(
                    sql: "INSERT INTO sync_setting VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
                    arguments: [name, value])
            }
            return epoch
        }
    }
}
