import GRDB
import SQLiteStore
import Testing

@Suite("Errors of the cache in words")
struct CacheErrorTests {
    private static let errors: [(CacheError, String)] = [
        (.unwritable("the disk is full"), "the disk is full"), (.damaged("a page is torn"), "a page is torn"),
        (.needed(by: [1], "1 needs it"), "1 needs it"),
        (.badQuery(field: "limit", message: "too large"), "limit: too large"),
        (
            .invalid([FieldProblem(field: "a", message: "no"), FieldProblem(field: "", message: "never")]),
            "a: no; never"
        ),
        (.notCached(entity: "orders", key: "a"), "orders/a is not in the cache"),
        (.unsupported(operation: "delete", entity: "orders", supported: ["create"]), "orders has no delete"),
    ]

    @Test("an error is its message in logs and in the status", arguments: errors)
    func words(_ error: CacheError, _ words: String) {
        #expect("\(error)" == words)
    }

    @Test("what SQLite calls an error of the disk may be a quota that is used up")
    func quota() {
        let error = CacheError.classified(DatabaseError(resultCode: .SQLITE_IOERR, message: "disk I/O error"))
        #expect(
            "\(error)"
                == "the database cannot be written (disk I/O error); check the disk, its free space and its quotas")
    }
}
