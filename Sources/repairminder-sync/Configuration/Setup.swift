import CacheStore
import EntitySchema
import Glibc
import SocketServer

/// What a daemon runs with: configuration and schema, read together.
struct Setup: Sendable, Equatable {
    var configuration: Configuration
    var schema: EntitySchema
    /// Where the schema was read from.
    var schemaFile: String

    /// The upstream's address; nil while nobody has said it.
    var baseURL: String? { configuration.upstream.baseURL ?? schema.upstream.baseURL }

    var origin: CacheOrigin { CacheOrigin(schema: schema.name, upstream: baseURL) }

    /// The group whose members may call; nil where the machine has none of that name.
    var group: gid_t? { getgrnam(configuration.listen.group).map { $0.pointee.gr_gid } }

    var listeners: [Listener] {
        var listeners: [Listener] = []
        if let tcp = configuration.listen.tcp { listeners.append(.tcp(host: tcp.host, port: UInt16(tcp.port))) }
        // Only the group is let near; without one only our own user.
        if let unix = configuration.listen.unix {
            listeners.append(.unix(path: unix, mode: group == nil ? 0o600 : 0o660, group: group))
        }
        return listeners
    }
}
