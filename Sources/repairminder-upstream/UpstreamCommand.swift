internal import ArgumentParser
internal import EntitySchema
internal import Foundation
internal import JSONText
internal import ReferenceUpstream
internal import ShippedSchemas
internal import SocketServer

/// The entry point: reads the flags, creates the upstream with the real clock, and serves it.
@main
struct UpstreamCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repairminder-upstream",
        abstract: "Serve a complete in-memory upstream for any schema file, for demonstrations and tests.",
        discussion: """
            Serves the API that the schema describes, with the records of --data or with sample records: a repair shop \
            for the schemas repairminder and repairminder-live, otherwise values that fit the names of the fields. \
            Records are lost when it exits. /__admin/faults, /__admin/log, /__admin/mail and /__admin/records/ENTITY \
            inject faults and show internal state; they need no token. /__admin/habits makes it behave like servers that \
            lag, normalise values or answer in parts. DELETE /__admin/tokens expires every access token.

            Exits with 0 after SIGINT or SIGTERM, 64 for wrong flags, 66 for an unreadable file, 65 for an invalid \
            file, 69 when it cannot listen on the address.
            """)

    @Option(
        help: ArgumentHelp("The schema's file, or the name of one built in, such as repairminder.", valueName: "schema")
    )
    var schema: String

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("A setting that the schema names; can be repeated.", valueName: "name=value"))
    var setting: [String] = []

    @Option(help: ArgumentHelp("A directory with ENTITY.ndjson or ENTITY.ndjson.gz files.", valueName: "folder"))
    var data: String?

    @Option(
        help: ArgumentHelp(
            "The number of orders in the sample shop; for other schemas, of records per entity that nothing refers to.",
            valueName: "count"))
    var rows = 500

    @Option(help: "The seed for sample records, random faults and generated keys.")
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("The address to listen on; port 0 picks a free port.", valueName: "host:port"))
    var listen = ListenAddress(host: "127.0.0.1", port: 7680)

    @Option(help: ArgumentHelp("The latency added to each response, such as 50ms.", valueName: "time"))
    var latency: Time?

    @Option(help: ArgumentHelp("The share of requests that fail with 503, 0 to 1.", valueName: "share"))
    var fail = 0.0

    @Option(help: ArgumentHelp("A file with the bearer token that every call must send.", valueName: "file"))
    var tokenFile: String?

    @Option(help: ArgumentHelp("The user who can sign in; every call then needs a token.", valueName: "name:password"))
    var user: String?

    @Option(help: ArgumentHelp("The lifetime of access tokens.", valueName: "time"))
    var tokenLifetime = Time(.seconds(900))

    @Option(help: ArgumentHelp("The account that owns the records.", valueName: "id"))
    var account = "company-1"

    @Flag(help: "Generate the key of every created record, whatever the caller sends.")
    var serverIds = false

    @Flag(help: "Reject a write that refers to a record that does not exist.")
    var checkReferences = false

    func validate() throws {
        guard (0...1).contains(fail) else { throw ValidationError("--fail is \(fail); expected a share from 0 to 1") }
        guard rows >= 1 else { throw ValidationError("--rows is \(rows); expected at least 1") }
    }

    func run() async throws {
        do {
            let schema = try readSchema()
            let upstream = ReferenceUpstream(
                schema: schema, records: try records(for: schema), settings: try settings(for: schema), now: Self.now)
            try await UpstreamServer(upstream: upstream, address: listen).run()
        } catch let failure as Failure {
            FileHandle.standardError.write(Data("repairminder-upstream: \(failure.message)\n".utf8))
            throw ExitCode(failure.code)
        }
    }

    private func readSchema() throws -> EntitySchema {
        let text = try ShippedSchemas.text(of: schema) ?? read(schema)
        let settings = try settings()
        do {
            return try EntitySchema(yaml: text, file: schema, settings: settings)
        } catch {
            throw Failure(code: EX_DATAERR, message: "\(error)")
        }
    }

    private func settings() throws -> [String: String] {
        var settings: [String: String] = [:]
        for text in setting {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw ValidationError("--setting is \(text); expected NAME=VALUE")
            }
            settings[parts[0]] = parts[1]
        }
        return settings
    }

    private func records(for schema: EntitySchema) throws -> [String: [JSONText]] {
        guard let data else {
            return SampleRecords(for: schema).records(rows: rows, seed: seed, account: account)
        }
        do {
            return try NDJSONLoader(schema: schema).load(folder: data)
        } catch {
            switch error {
            case .unreadable(let message): throw Failure(code: EX_NOINPUT, message: message)
            case .invalid(let message): throw Failure(code: EX_DATAERR, message: message)
            }
        }
    }

    private func settings(for schema: EntitySchema) throws -> ReferenceUpstream.Settings {
        var settings = SampleRecords(for: schema).settings
        settings.account = account
        settings.serverIds = serverIds
        settings.checksReferences = checkReferences
        settings.seed = seed
        settings.user = try signInUser()
        if let latency { settings.faults.rules.append(Faults.Rule(.latency(latency.duration))) }
        if fail > 0 { settings.faults.rules.append(Faults.Rule(.fail(status: 503), rate: fail)) }
        if let tokenFile {
            let token = try read(tokenFile).trimmingCharacters(in: .whitespacesAndNewlines)
            guard !token.isEmpty else {
                throw Failure(code: EX_DATAERR, message: "\(tokenFile) is empty; put a token in")
            }
            settings.token = token
        }
        return settings
    }

    private func signInUser() throws -> ReferenceUpstream.User? {
        guard let user else { return nil }
        let parts = user.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw ValidationError("--user is \(user); expected name:password") }
        var made = ReferenceUpstream.User(name: parts[0], password: parts[1])
        made.accessLifetime = tokenLifetime.duration
        return made
    }

    private func read(_ path: String) throws -> String {
        do {
            return try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw Failure(code: EX_NOINPUT, message: "cannot read \(path) as text; check the path and its permissions")
        }
    }

    private static let now: @Sendable () -> Timestamp = {
        Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }
}

/// Why the command exits: a sysexits(3) code and a message.
struct Failure: Error {
    var code: Int32
    var message: String
}
