import CacheStore
import EntitySchema
import Foundation
import Upstream

/// The daemon's files, for commands that work on them without the daemon.
struct StateFiles {
    let configuration: Configuration
    let schema: EntitySchema
    let directory: StateDirectory

    /// Throws when the state directory is missing, unless `makesFolder` creates it.
    init(_ options: some ConfigurationSource, makesFolder: Bool = false) throws {
        let environment = Environment.ofThisProcess()
        configuration = try options.configuration(environment: environment)
        schema = try SchemaFinder(environment: environment).schema(for: configuration)
        try StateAccess.require(configuration)
        guard makesFolder || FileManager.default.fileExists(atPath: configuration.stateDirectory) else {
            throw CommandFailure(
                .badConfiguration,
                "\(configuration.stateDirectory) does not exist; set state_dir to the daemon's state directory, or start "
                    + "the daemon once to create it")
        }
        directory = try StateDirectory(
            path: configuration.stateDirectory, origin: Self.origin(configuration, schema),
            originOf: CacheOrigins().origin(of:))
    }

    private static func origin(_ configuration: Configuration, _ schema: EntitySchema) -> CacheOrigin {
        CacheOrigin(schema: schema.name, upstream: configuration.address(with: schema))
    }

    var origin: CacheOrigin { Self.origin(configuration, schema) }

    /// The database in use.
    func database() throws(CommandFailure) -> String {
        guard let path = directory.inUse else {
            throw CommandFailure(
                .notFound,
                "\(configuration.stateDirectory) has no database for this schema and upstream yet; start the daemon first"
            )
        }
        return path
    }

    /// The path of an account's database, existing or not. A database that learned its account since the daemon's last
    /// start has not been renamed yet, and a damaged database in use cannot report its account.
    func database(of account: String?) -> String {
        guard let path = directory.inUse else { return directory.path(for: account) }
        guard let account else { return path }
        do {
            return try DatabaseSummary(ofDatabaseAt: path).account == account ? path : directory.path(for: account)
        } catch {
            let named = directory.path(for: account)
            return FileManager.default.fileExists(atPath: named) ? named : path
        }
    }

    /// Runs `body` while holding the daemon's lock. Throws `StateError` when the daemon is running.
    func whileStopped<Result>(_ body: () async throws -> Result) async throws -> Result {
        let lock = try directory.lock()
        defer { lock.release() }
        return try await body()
    }

    /// A new name in the state directory, for a file that this command deletes again.
    func temporaryPath() -> String {
        "\(configuration.stateDirectory)/\(StateDirectory.copyName)\(Self.makeID()).tmp"
    }

    var secretKey: SecretKeyFile { SecretKeyFile(configuration) }

    static let makeID = RandomID.make

    static let now: @Sendable () -> Timestamp = {
        Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    }
}
