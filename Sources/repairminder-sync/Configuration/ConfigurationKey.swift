/// Every configuration key; the raw value is its name in the file, with a dot between section and key.
enum ConfigurationKey: String, CaseIterable, Sendable {
    case schema = "schema"
    case stateDirectory = "state_dir"
    case secretKeyFile = "secret_key_file"
    case instance = "instance"
    case site = "site"
    case schemaVersion = "schema.version"
    case schemaSHA256 = "schema.sha256"
    case upstreamBaseURL = "upstream.base_url"
    case upstreamAllowPlainHTTP = "upstream.allow_plain_http"
    case upstreamTokenFile = "upstream.token_file"
    case upstreamParallel = "upstream.parallel"
    case upstreamDeadline = "upstream.deadline"
    case syncInterval = "sync.interval"
    case syncFullEvery = "sync.full_every"
    case syncDeleteGuard = "sync.delete_guard"
    case syncWriteDelay = "sync.write_delay"
    case syncSpread = "sync.spread"
    case retryMaximumAttempts = "retry.max_attempts"
    case retryBase = "retry.base"
    case retryCap = "retry.cap"
    case historyKeepDays = "history.keep_days"
    case historyKeepChanges = "history.keep_changes"
    case backupEvery = "backup.every"
    case backupKeep = "backup.keep"
    case backupKeepDays = "backup.keep_days"
    case contentKeepSize = "content.keep_size"
    case listenTCP = "listen.tcp"
    case listenUnix = "listen.unix"
    case listenAllowRemote = "listen.allow_remote"
    case listenAllowPlainHTTP = "listen.allow_plain_http"
    case listenTCPWithoutToken = "listen.tcp_without_token"
    case listenGroup = "listen.group"
    case listenRate = "listen.rate"
    case listenThreads = "listen.threads"
    case signalsListen = "signals.listen"
    case signalsSecretFile = "signals.secret_file"
    case standbyMembers = "standby.etcd"
    case standbyKey = "standby.key"
    case standbyTTL = "standby.ttl"
    case standbySync = "standby.sync"
    case standbyAllowPlainHTTP = "standby.allow_plain_http"
    case standbyCAFile = "standby.ca_file"
    case standbyCertificateFile = "standby.certificate_file"
    case standbyCertificateKeyFile = "standby.certificate_key_file"
    case standbyUser = "standby.user"
    case standbyPasswordFile = "standby.password_file"
    case dashboardTimeZone = "dashboard.time_zone"
    case remindersCommand = "reminders.command"
    case remindersWebhook = "reminders.webhook"
    case remindersSecretFile = "reminders.secret_file"
    case remindersDeadline = "reminders.deadline"
    case remindersHour = "reminders.hour"
    case mirrorEnabled = "mirror.enabled"
    case mirrorDirectory = "mirror.directory"
    case logLevel = "log.level"
    case logFormat = "log.format"

    /// Those that are true or false. Their flags need no value.
    static let switches: [ConfigurationKey] = [
        .upstreamAllowPlainHTTP, .syncSpread, .listenAllowRemote, .listenAllowPlainHTTP, .standbySync,
        .standbyAllowPlainHTTP, .mirrorEnabled,
    ]

    static let variablePrefix = "REPAIRMINDER_SYNC_"

    /// Section and key, or the key alone.
    var components: [String] { rawValue.split(separator: ".").map(String.init) }

    /// The long flag without its dashes: `upstream.base-url`.
    var flag: String { rawValue.replacing("_", with: "-") }

    /// `REPAIRMINDER_SYNC_UPSTREAM_BASE_URL`.
    var variable: String { Self.variablePrefix + rawValue.replacing(".", with: "_").uppercased() }
}
