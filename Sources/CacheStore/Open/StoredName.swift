internal import Foundation
internal import GRDB

/// The columns of names, by which a row is found again.
///
/// GRDB ends a text at its first NUL and replaces what is not UTF-8. A name that is read as another one finds no row, so that
/// deleting it would go on without end, or two rows have one name.
enum StoredName {
    private static let columns: Set<String> = [
        "_key", "content", "entity", "hook", "idempotency_key", "name", "old_key", "record_key", "rule", "sha256",
    ]

    static func isIn(_ column: String) -> Bool { columns.contains(column) }

    /// True for a name that is read as another one; needs `isWhole`.
    static func wrong(_ column: String) -> String {
        "\(column) IS NOT NULL AND NOT is_whole(CAST(\(column) AS BLOB))"
    }

    /// The SQL function `is_whole(bytes)`: whether they are read as the text that they are.
    static let isWhole = DatabaseFunction("is_whole", argumentCount: 1, pure: true) { values in
        guard let value = values.first, let bytes = Data.fromDatabaseValue(value) else { return false }
        return !bytes.contains(0) && String(validating: bytes, as: UTF8.self) != nil
    }
}
