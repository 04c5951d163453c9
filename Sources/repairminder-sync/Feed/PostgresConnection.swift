/// One connection to PostgreSQL. Its calls block. Every value is a parameter in text form.
final class PostgresConnection {
    /// A value in UTF-8 without a zero byte; nil for null.
    typealias Parameter = [UInt8]?

    struct Answer: Equatable {
        var rows: [[String?]] = []
        /// How many rows a statement has written or deleted.
        var affected = 0

        /// The rows. Throws if one has another number of columns than the statement asks for, as no PostgreSQL answers.
        func rows(of columns: Int) throws(PostgresError) -> [[String?]] {
            guard rows.allSatisfy({ $0.count == columns }) else {
                throw PostgresError(.lasting, "the server answers rows that it was not asked for; is it PostgreSQL?")
            }
            return rows
        }
    }

    private let library: LibPQ
    private let handle: OpaquePointer
    /// See `FeedSettings.weakness`.
    let weakness: String?

    /// `target` is an address such as `postgresql:///reports`, or what libpq calls a connection string.
    init(_ target: String, application: String, _ library: LibPQ) throws(PostgresError) {
        // A later name wins. What is before `dbname` is only for those who did not say otherwise.
        let settings: [(String, String)] = [
            ("connect_timeout", "10"), ("keepalives_idle", "30"), ("keepalives_interval", "10"),
            ("keepalives_count", "3"), ("tcp_user_timeout", "60000"), ("fallback_application_name", application),
            ("dbname", target), ("client_encoding", "UTF8"),
        ]
        let names = settings.map { Optional(Array($0.0.utf8)) } + [nil]
        let values = settings.map { Optional(Array($0.1.utf8)) } + [nil]
        let opened = Self.withTexts(names) { names in
            Self.withTexts(values) { values in library.beginConnecting(names, values, 1) }
        }
        guard let opened else { throw PostgresError(.passing, "out of memory") }
        // libpq writes a notice of the server to standard error as it is, and a terminal would obey it. It takes a receiver only
        // once it connects, so it connects again with one: what the server says at the beginning is not shown either.
        _ = library.setNoticeReceiver(opened, { _, _ in }, nil)
        if library.status(opened) != LibPQ.failed { library.connectAgain(opened) }
        guard library.status(opened) == LibPQ.connected else {
            let reason = library.errorMessage(opened).map { String(cString: $0) } ?? ""
            library.finish(opened)
            throw PostgresError(state: nil, message: reason)
        }
        self.library = library
        handle = opened
        weakness = FeedSettings.weakness(of: library.settings(of: opened))
    }

    deinit { library.finish(handle) }

    /// Runs one statement.
    @discardableResult
    func run(_ statement: String, _ parameters: [Parameter] = []) throws(PostgresError) -> Answer {
        let result = Self.withTexts([Array(statement.utf8)]) { text in
            Self.withTexts(parameters) { values in
                library.execute(handle, text?.pointee, Int32(parameters.count), nil, values, nil, nil, 0)
            }
        }
        defer { library.clear(result) }
        guard LibPQ.succeeded.contains(library.resultStatus(result)) else { throw failure(result) }
        return answer(result)
    }

    /// Runs `body` in a transaction; a failure rolls it back.
    func transaction<Result>(_ body: () throws(PostgresError) -> Result) throws(PostgresError) -> Result {
        try begin()
        do throws(PostgresError) {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    func begin() throws(PostgresError) { try run("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE") }

    /// A connection that is lost needs none: the server rolls back by itself.
    func rollBack() { _ = try? run("ROLLBACK") }

    // MARK: Answers

    private func answer(_ result: OpaquePointer?) -> Answer {
        let columns = library.columnCount(result)
        let rows = (0..<library.rowCount(result)).map { row in
            (0..<columns).map { column -> String? in
                guard library.isNull(result, row, column) == 0 else { return nil }
                return library.value(result, row, column).map { String(cString: $0) }
            }
        }
        return Answer(rows: rows, affected: library.affected(result).flatMap { Int(String(cString: $0)) } ?? 0)
    }

    private func failure(_ result: OpaquePointer?) -> PostgresError {
        guard library.status(handle) == LibPQ.connected,
            let state = library.resultErrorField(result, LibPQ.sqlState)
        else {
            let reason = library.errorMessage(handle).map { String(cString: $0) } ?? ""
            return PostgresError(state: nil, message: reason.isEmpty ? "the connection was lost" : reason)
        }
        let message = library.resultErrorField(result, LibPQ.primaryMessage).map { String(cString: $0) } ?? ""
        return PostgresError(state: String(cString: state), message: message)
    }

    /// The texts as C has them, while `body` runs.
    private static func withTexts<Result>(_ texts: [Parameter], _ body: (LibPQ.Texts?) -> Result) -> Result {
        var bytes: [CChar] = []
        bytes.reserveCapacity(texts.reduce(0) { $0 + ($1?.count ?? 0) + 1 })
        let offsets = texts.map { text -> Int? in
            guard let text else { return nil }
            defer {
                for byte in text { bytes.append(CChar(bitPattern: byte)) }
                bytes.append(0)
            }
            return bytes.count
        }
        return bytes.withUnsafeBufferPointer { buffer in
            let pointers = offsets.map { offset in offset.flatMap { start in buffer.baseAddress.map { $0 + start } } }
            return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
        }
    }
}
