import LocalAPIServer
import Logging

/// The daemon's validated settings with defaults filled in; docs/config.md describes every key.
struct Configuration: Sendable, Equatable {
    /// The file that was read; nil when there is none.
    var file: String?
    /// The files of the folder beside it, in the order in which they were read.
    var parts: [String] = []
    /// A schema's name, or the path of its file.
    var schema: String
    /// What that schema must be.
    var schemaPin = SchemaPin()
    /// The signed bundle in use; nil when no file names one.
    var bundle: Bundle?
    var stateDirectory: String
    /// The file with the key that encrypts secrets; nil for the one that the daemon creates in `stateDirectory`.
    var secretKeyFile: String?
    /// What this daemon is called among others; nil for the machine's name.
    var instance: String?
    /// Where it is, such as a shop; nil when not said.
    var site: String?
    var upstream: Upstream
    var sync: Sync
    var retry: Retry
    var history: History
    var backup: Backup
    var content: Content
    var listen: Listen
    var signals: Signals
    var standby = Standby()
    var dashboard: Dashboard
    var reminders: Reminders
    var hooks: [HookSettings]
    var mirror: Mirror
    var log: Log
    /// Problems that are not errors, logged once at the start.
    var warnings: [String]

    struct Bundle: Sendable, Equatable {
        var serial: Int
        /// What its author signed with it.
        var comment: String
        /// The text of its schema, if that counts.
        var schema: String?
        /// Why it is not the one in place, but the one before.
        var warning: String?
    }

    struct Upstream: Sendable, Equatable {
        /// Without a trailing slash; nil for the schema's.
        var baseURL: String?
        /// Whether requests may go unencrypted to another machine.
        var allowPlainHTTP = false
        /// Whether contents may be at other addresses. No file can set it.
        var hasContentsElsewhere = true
        var tokenFile: String?
        /// What the schema names `{$setting.NAME}`: name → text.
        var settings: [String: String] = [:]
        /// The files with what the schema names `{$secret.NAME}`: name → path.
        var secrets: [String: String] = [:]
        /// The maximum number of requests in flight.
        var parallel: Int
        /// The limit for one request and its response.
        var deadline: Duration
    }

    struct Sync: Sendable, Equatable {
        var interval: Duration
        var fullEvery: Duration
        /// The share of an entity's records, 0 to 1, that one full pull may delete without confirmation.
        var deleteGuard: Double
        var writeDelay: Duration
        /// Whether to keep out of step with other machines.
        var spread = false
    }

    struct Retry: Sendable, Equatable {
        var maximumAttempts: Int
        var base: Duration
        var cap: Duration
    }

    /// The limits of the change log.
    struct History: Sendable, Equatable {
        var keepDays: Int
        var keepChanges: Int
    }

    /// The automatic backups.
    struct Backup: Sendable, Equatable {
        /// Nil when off.
        var every: Duration?
        var keep: Int
        var keepDays: Int
    }

    struct Content: Sendable, Equatable {
        /// The limit for cached content that is also upstream, in bytes.
        var keepSize: Int
    }

    struct Listen: Sendable, Equatable {
        /// The default of `group`: the package makes it.
        static let standardGroup = "repairminder"

        /// Nil when off.
        var tcp: ListenAddress?
        /// The path of the Unix socket; nil when off.
        var unix: String?
        var allowRemote: Bool
        /// Whether other machines may call without encryption.
        var allowPlainHTTP = false
        var tcpWithoutToken = TokenlessTCP.all
        var group: String
        /// The calls per second that one caller may make; nil for no limit.
        var rate: Int?
        /// The threads that serve requests.
        var threads: Int
    }

    /// Calls of the upstream that report changes.
    struct Signals: Sendable, Equatable {
        /// Nil when off.
        var listen: ListenAddress?
        /// The file with the secrets by which the calls are signed.
        var secretFile: String?
    }

    /// The lease that at most one of several daemons holds.
    struct Standby: Sendable, Equatable {
        /// The addresses of etcd's members, without a trailing slash; empty for a daemon that stands alone.
        var members: [String] = []
        var allowPlainHTTP = false
        var key = "repairminder-sync"
        var ttl = Duration.seconds(15)
        /// Whether each queued change is stored in etcd as well.
        var isSync = false
        var caFile: String?
        var certificateFile: String?
        var certificateKeyFile: String?
        var user: String?
        var passwordFile: String?
    }

    struct Dashboard: Sendable, Equatable {
        /// Its name in the tz database; nil for the system's.
        var timeZone: String?
    }

    struct Reminders: Sendable, Equatable {
        /// Nil when reminders are not delivered.
        var recipient: HookSettings.Recipient?
        /// The file with the secrets that sign what a webhook gets; nil if that is not signed.
        var secretFile: String?
        /// The limit for one delivery.
        var deadline: Duration
        /// The hour of the day at which reminders of a date are due.
        var hour: Int
    }

    /// The copy of the cache in plain files.
    struct Mirror: Sendable, Equatable {
        var isEnabled: Bool
        var directory: String
    }

    struct Log: Sendable, Equatable {
        var level: Logger.Level
        var format: LogFormat
    }

    /// The local API's token, which the daemon creates.
    var tokenFile: String { place.tokenFile }

    /// The upstream's tokens, which `login` writes and the daemon refreshes when they expire.
    var signInFile: String { stateDirectory + "/tokens.json" }

    /// That the upstream refused the stored credentials, and when.
    var signInRefusalFile: String { stateDirectory + "/sign-in-refusal.json" }
}

extension Configuration {
    var place: DaemonPlace { DaemonPlace(unix: listen.unix, tcp: listen.tcp, stateDirectory: stateDirectory) }
}

/// Where the daemon listens and keeps its files: all that a command needs that talks to it.
struct DaemonPlace: Equatable, Sendable {
    /// The path of the Unix socket; nil when off.
    var unix: String?
    /// Nil when off.
    var tcp: ListenAddress?
    var stateDirectory: String

    /// The local API's token, which the daemon creates.
    var tokenFile: String { stateDirectory + "/api-token" }
}

/// An invalid configuration: where the value is set and what was expected.
struct ConfigurationError: Error, Equatable, CustomStringConvertible {
    /// A file with line and key, a flag, or an environment variable; empty when no single place is wrong.
    var place: String
    var problem: String

    var description: String { place.isEmpty ? problem : "\(place): \(problem)" }
}
