import Glibc

/// PostgreSQL's client library, loaded when it is first needed, so that nothing else depends on it.
struct LibPQ {
    typealias Text = UnsafePointer<CChar>
    typealias Texts = UnsafePointer<UnsafePointer<CChar>?>

    /// Takes a notice: the connection's argument, and the result with its text.
    typealias NoticeReceiver = @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?) -> Void

    let options: @convention(c) (OpaquePointer?) -> OpaquePointer?
    let parse: @convention(c) (Text?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> OpaquePointer?
    let freeOptions: @convention(c) (OpaquePointer?) -> Void
    let beginConnecting: @convention(c) (Texts?, Texts?, Int32) -> OpaquePointer?
    let connectAgain: @convention(c) (OpaquePointer?) -> Void
    let setNoticeReceiver: @convention(c) (OpaquePointer?, NoticeReceiver?, UnsafeMutableRawPointer?) -> NoticeReceiver?
    let finish: @convention(c) (OpaquePointer?) -> Void
    let status: @convention(c) (OpaquePointer?) -> Int32
    let errorMessage: @convention(c) (OpaquePointer?) -> Text?
    let execute:
        @convention(c) (
            OpaquePointer?, Text?, Int32, UnsafePointer<UInt32>?, Texts?, UnsafePointer<Int32>?, UnsafePointer<Int32>?,
            Int32
        ) -> OpaquePointer?
    let resultStatus: @convention(c) (OpaquePointer?) -> Int32
    let resultErrorField: @convention(c) (OpaquePointer?, Int32) -> Text?
    let rowCount: @convention(c) (OpaquePointer?) -> Int32
    let columnCount: @convention(c) (OpaquePointer?) -> Int32
    let value: @convention(c) (OpaquePointer?, Int32, Int32) -> Text?
    let isNull: @convention(c) (OpaquePointer?, Int32, Int32) -> Int32
    let affected: @convention(c) (OpaquePointer?) -> Text?
    let clear: @convention(c) (OpaquePointer?) -> Void

    /// `CONNECTION_BAD`, `CONNECTION_OK`, `PGRES_COMMAND_OK` and `PGRES_TUPLES_OK` (libpq-fe.h).
    static let failed: Int32 = 1
    static let connected: Int32 = 0
    static let succeeded: ClosedRange<Int32> = 1...2
    /// `PG_DIAG_SQLSTATE` and `PG_DIAG_MESSAGE_PRIMARY` (postgres_ext.h).
    static let sqlState = Int32(UInt8(ascii: "C"))
    static let primaryMessage = Int32(UInt8(ascii: "M"))

    /// The name that stays for as long as the functions keep their arguments.
    static let fileName = "libpq.so.5"

    /// Throws words that say how to install it.
    init(fileName: String = Self.fileName) throws(CommandFailure) {
        guard let library = dlopen(fileName, RTLD_NOW) else {
            let reason = dlerror().map { String(cString: $0) } ?? "no reason given"
            throw CommandFailure(
                .badConfiguration,
                "PostgreSQL's client library cannot be loaded (\(reason)); install it: sudo apt-get install libpq5")
        }
        options = try Self.function("PQconninfo", library)
        parse = try Self.function("PQconninfoParse", library)
        freeOptions = try Self.function("PQconninfoFree", library)
        beginConnecting = try Self.function("PQconnectStartParams", library)
        connectAgain = try Self.function("PQreset", library)
        setNoticeReceiver = try Self.function("PQsetNoticeReceiver", library)
        finish = try Self.function("PQfinish", library)
        status = try Self.function("PQstatus", library)
        errorMessage = try Self.function("PQerrorMessage", library)
        execute = try Self.function("PQexecParams", library)
        resultStatus = try Self.function("PQresultStatus", library)
        resultErrorField = try Self.function("PQresultErrorField", library)
        rowCount = try Self.function("PQntuples", library)
        columnCount = try Self.function("PQnfields", library)
        value = try Self.function("PQgetvalue", library)
        isNull = try Self.function("PQgetisnull", library)
        affected = try Self.function("PQcmdTuples", library)
        clear = try Self.function("PQclear", library)
    }

    /// Whether it can read an address or a connection string. Why not it says with parts of it, a password maybe.
    func accepts(_ target: String) -> Bool {
        guard let options = parse(target, nil) else { return false }
        freeOptions(options)
        return true
    }

    /// What a connection goes by, from wherever libpq has it: the address, variables, a service.
    func settings(of connection: OpaquePointer?) -> [String: String] {
        guard let first = options(connection) else { return [:] }
        defer { freeOptions(first) }
        var settings: [String: String] = [:]
        var option = UnsafeRawPointer(first)
        // `PQconninfoOption` (libpq-fe.h): keyword, variable, default, value, two texts for people, and a number. The last has
        // no keyword.
        let word = MemoryLayout<Text?>.stride
        while let name = option.load(as: Text?.self) {
            if let value = option.load(fromByteOffset: 3 * word, as: Text?.self) {
                settings[String(cString: name)] = String(cString: value)
            }
            option += 7 * word
        }
        return settings
    }

    /// `Function` must be the type that libpq-fe.h gives it.
    private static func function<Function>(
        _ name: String, _ library: UnsafeMutableRawPointer
    ) throws(CommandFailure) -> Function {
        guard let address = dlsym(library, name) else {
            throw CommandFailure(.badConfiguration, "\(fileName) has no function \(name); is it PostgreSQL's?")
        }
        return unsafeBitCast(address, to: Function.self)
    }
}
