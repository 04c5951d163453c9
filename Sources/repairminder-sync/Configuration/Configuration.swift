import Logging

/// What the daemon was told: every key with its value, checked, defaults filled in. docs/config.md explains each.
struct Configuration: Sendable, Equatable {
    /// The file that was read; nil when there is none.
    var file: String?
    /// A schema's name, or the path of its file.
    var schema: String
    var stateDirectory: String
    /// The key that secrets are sealed with; nil for the one that the daemon makes in `stateDirectory`.
    var secretKeyFile: String?
    var upstream: Upstream
    var sync: Sync
    var retry: Retry
    var history: History
    var backup: Backup
    var content: Content
    var listen: Listen
    var dashboard: Dashboard
    var reminders: Reminders
    var mirror: Mirror
    var log: Log
    /// What is odd but no error, to be told once at the start.
    var warnings: [String]

    struct Upstream: Sendable, Equatable {
        /// Without a slash at its end; nil for the schema's.
        var baseURL: String?
        var tokenFile: String?
        /// Requests in flight.
        var parallel: Int
        /// For one exchange as a whole.
        var deadline: Duration
    }

    struct Sync: Sendable, Equatable {
        var interval: Duration
        var fullEvery: Duration
        /// The share of an entity's records, 0 to 1, that one full pull may find deleted.
        var deleteGuard: Double
        var writeDelay: Duration
    }

    struct Retry: Sendable, Equatable {
        var maximumAttempts: Int
        var base: Duration
        var cap: Duration
    }

    /// How much of the change log is kept.
    struct History: Sendable, Equatable {
        var keepDays: Int
        var keepChanges: Int
    }

    /// The backups that the daemon makes by itself.
    struct Backup: Sendable, Equatable {
        /// Nil when off.
        var every: Duration?
        var keep: Int
        var keepDays: Int
    }

    struct Content: Sendable, Equatable {
        /// What is kept of contents that the upstream has, in bytes.
        var keepSize: Int
    }

    struct Listen: Sendable, Equatable {
        /// Nil when off.
        var tcp: ListenAddress?
        /// The path of the Unix socket; nil when off.
        var unix: String?
        var allowRemote: Bool
        var group: String
        /// Calls a second that one caller may make; nil for any number.
        var rate: Int?
        /// Threads that serve requests.
        var threads: Int
    }

    struct Dashboard: Sendable, Equatable {
        /// Its name in the tz database; nil for the system's.
        var timeZone: String?
    }

    struct Reminders: Sendable, Equatable {
        enum Recipient: Sendable, Equatable {
            /// A program's path, then its arguments.
            case command([String])
            /// An address on this machine.
            case webhook(String)
        }

        /// Nil when nobody is told.
        var recipient: Recipient?
        /// For one delivery.
        var deadline: Duration
        /// When on a day one is reminded of a date.
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

    /// The local API's token, which the daemon makes.
    var tokenFile: String { stateDirectory + "/api-token" }

    /// The upstream's tokens, which `login` writes and the daemon exchanges when they are spent.
    var signInFile: String { stateDirectory + "/tokens.json" }
}

/// A configuration that cannot be used: where it says so, and what was expected there.
struct ConfigurationError: Error, Equatable, CustomStringConvertible {
    /// A file with its line and key, a flag, or an environment variable; empty when no single place is at fault.
    var place: String
    var problem: String

    var description: String { place.isEmpty ? problem : "\(place): \(problem)" }
}
