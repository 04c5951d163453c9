import CacheStore
import EntitySchema
import Foundation
import Glibc
import Upstream

/// The daemon's own files, for the commands that work on them without the daemon.
struct StateFiles {
    let configuration: Configuration
    let schema: EntitySchema
    let directory: StateDirectory

    /// Throws where it is another user's, or there is no state folder yet and none is made.
    init(_ options: ConfigurationOptions, makesFolder: Bool = false) throws {
        let environment = Environment.ofThisProcess()
        configuration = try options.configuration(environment: environment)
        schema = try SchemaFinder(environment: environment).schema(for: configuration)
        guard makesFolder || FileManager.default.fileExists(atPath: configuration.stateDirectory) else {
            throw CommandFailure(
                .badConfiguration, "\(configuration.stateDirectory) is not there; name the daemon's state_dir")
        }
        directory = try StateDirectory(path: configuration.stateDirectory, origin: Self.origin(configuration, schema))
    }

    private static func origin(_ configuration: Configuration, _ schema: EntitySchema) -> CacheOrigin {
        CacheOrigin(schema: schema.name, upstream: configuration.upstream.baseURL ?? schema.upstream.baseURL)
    }

    var origin: CacheOrigin { Self.origin(configuration, schema) }

    /// The database in use.
    func database() throws(CommandFailure) -> String {
        guard let path = directory.inUse else {
            throw CommandFailure(
                .notFound, "\(configuration.stateDirectory) holds no database of this schema and upstream yet")
        }
        return path
    }

    /// Where an account's database is or will be. One that has learnt its account since the daemon's last start has not
    /// got its name yet, and a damaged one in use cannot say whose it is.
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

    /// Keeps the daemon from starting meanwhile, and leaves nothing behind that its user cannot read.
    ///
    /// Throws `StateError` while a daemon runs.
    func whileStopped<Result>(_ body: () async throws -> Result) async throws -> Result {
        let owner = try StateOwner(folder: configuration.stateDirectory)
        let lock = try directory.lock()
        defer { lock.release() }
        let result = try await body()
        try owner.ownEverything(in: configuration.stateDirectory)
        return result
    }

    var secretKey: SecretKeyFile { SecretKeyFile(configuration) }

    static let makeID: @Sendable () -> String = { UUID().uuidString.lowercased() }

    static let now: @Sendable () -> Timestamp = {
        Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    }
}
