import CacheStore
import EntitySchema
import Glibc
import SocketServer

/// A configuration and its schema, read together.
struct Setup: Sendable, Equatable {
    var configuration: Configuration
    var schema: EntitySchema
    /// The file that the schema was read from.
    var schemaFile: String
    /// The SHA-256 of that file.
    var schemaSHA256: String

    /// The first 12 digits of it.
    var schemaHash: String { String(schemaSHA256.prefix(12)) }

    /// The upstream's address; nil while it is not set.
    var baseURL: String? { configuration.address(with: schema) }

    var origin: CacheOrigin { CacheOrigin(schema: schema.name, upstream: baseURL) }

    /// The group whose members may call the API; nil when the machine has no group of that name. So is the default group where
    /// this process is not in it, as in a demo beside the installed package: it could not let members in.
    var group: gid_t? {
        guard let group = getgrnam(configuration.listen.group)?.pointee.gr_gid else { return nil }
        return configuration.listen.group != Configuration.Listen.standardGroup || Self.isOwn(group) ? group : nil
    }

    private static func isOwn(_ group: gid_t) -> Bool {
        if geteuid() == 0 || getegid() == group { return true }
        var groups = [gid_t](repeating: 0, count: Int(max(getgroups(0, nil), 0)))
        let count = getgroups(Int32(groups.count), &groups)
        return groups.prefix(Int(max(count, 0))).contains(group)
    }

    var listeners: [Listener] {
        var listeners: [Listener] = []
        for tcp in configuration.listen.tcp?.addresses ?? [] {
            listeners.append(.tcp(host: tcp.host, port: tcp.port))
        }
        // Only the group can connect; without a group, only the daemon's user.
        if let unix = configuration.listen.unix {
            listeners.append(.unix(path: unix, mode: group == nil ? 0o600 : 0o660, group: group))
        }
        return listeners
    }

    /// Where the upstream calls this machine; empty when it makes no calls.
    var webhookListeners: [Listener] {
        guard let address = configuration.signals.listen, configuration.signals.secretFile != nil,
            schema.upstream.signals.contains(where: \.isWebhook)
        else { return [] }
        return address.addresses.map { .tcp(host: $0.host, port: $0.port) }
    }
}

extension Configuration {
    /// The upstream's address; nil while it is not set.
    func address(with schema: EntitySchema) -> String? { upstream.baseURL ?? schema.upstream.baseURL }
}
