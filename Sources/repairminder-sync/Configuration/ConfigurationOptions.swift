import ArgumentParser

/// What says how the daemon is configured, as for `run`: a file, and flags that override it.
protocol ConfigurationSource: ParsableArguments {
    var config: String? { get }
    var keys: ConfigurationFlags { get }
}

/// With every flag in the help.
struct ConfigurationOptions: ConfigurationSource {
    @Option(help: ArgumentHelp("The configuration file (YAML or JSON).", valueName: "file"))
    var config: String?

    @OptionGroup var keys: ConfigurationFlags
}

/// The same for commands whose own flags would be lost among these in the help.
struct BriefConfigurationOptions: ConfigurationSource {
    @Option(
        help: ArgumentHelp(
            "The configuration file (YAML or JSON). All other flags of run are taken here, too.", valueName: "file"))
    var config: String?

    @OptionGroup(visibility: .hidden) var keys: ConfigurationFlags
}

extension ConfigurationSource {
    func configuration(environment: Environment) throws(ConfigurationError) -> Configuration {
        try ConfigurationReader(path: config, flags: keys.flags, maps: keys.maps, environment: environment)
            .configuration()
    }

    /// Where each value comes from that is no default.
    func origins(environment: Environment) throws(ConfigurationError) -> [ConfigurationOrigin] {
        try ConfigurationReader(path: config, flags: keys.flags, maps: keys.maps, environment: environment).origins()
    }

    func setupReader(environment: Environment) -> SetupReader {
        SetupReader(path: config, flags: keys.flags, maps: keys.maps, environment: environment)
    }
}

/// Every configuration key as a flag.
struct ConfigurationFlags: ParsableArguments {
    @Option(.schema, "A schema's name or path.", "name") var schema: String?
    @Option(.stateDirectory, "The state directory.", "path") var stateDirectory: String?
    @Option(.secretKeyFile, "The key that encrypts secrets.", "file") var secretKeyFile: String?
    @Option(.instance, "What this daemon is called among others.", "name") var instance: String?
    @Option(.site, "Where this daemon is, such as a shop.", "name") var site: String?
    @Option(.schemaVersion, "The version that the schema has.", "name") var schemaVersion: String?
    @Option(.schemaSHA256, "The SHA-256 of the schema's file.", "hash") var schemaSHA256: String?

    @Option(.upstreamBaseURL, "The upstream's address.", "url") var upstreamBaseURL: String?
    @Option(flag: .upstreamAllowPlainHTTP, "Allow an http address on another machine.")
    var upstreamAllowPlainHTTP: String?
    @Option(.upstreamTokenFile, "The upstream's token.", "file") var upstreamTokenFile: String?

    @Option(
        name: .customLong("upstream.setting"), parsing: .singleValue,
        help: ArgumentHelp("A setting of the schema; can be repeated.", valueName: "name=value"))
    var upstreamSettings: [String] = []

    @Option(
        name: .customLong("upstream.secret"), parsing: .singleValue,
        help: ArgumentHelp("A credential's file; can be repeated.", valueName: "name=file"))
    var upstreamSecrets: [String] = []

    @Option(.upstreamParallel, "Parallel requests.", "n") var upstreamParallel: String?
    @Option(.upstreamDeadline, "Limit per request.", "duration") var upstreamDeadline: String?

    @Option(.syncInterval, "Time between syncs.", "duration") var syncInterval: String?
    @Option(.syncFullEvery, "Time between full syncs.", "duration") var syncFullEvery: String?
    @Option(.syncDeleteGuard, "The share of records that one sync may delete.", "percent") var syncDeleteGuard: String?
    @Option(.syncWriteDelay, "Delay before a local change is sent.", "duration") var syncWriteDelay: String?
    @Option(flag: .syncSpread, "Keep out of step with other machines.") var syncSpread: String?

    @Option(.retryMaximumAttempts, "Attempts per change.", "n") var retryMaximumAttempts: String?
    @Option(.retryBase, "The first backoff.", "duration") var retryBase: String?
    @Option(.retryCap, "The longest backoff.", "duration") var retryCap: String?

    @Option(.historyKeepDays, "Days kept in the change log.", "n") var historyKeepDays: String?
    @Option(.historyKeepChanges, "Changes kept in the change log.", "n") var historyKeepChanges: String?

    @Option(.backupEvery, "Time between backups, or off.", "duration") var backupEvery: String?
    @Option(.backupKeep, "Backups to keep.", "n") var backupKeep: String?
    @Option(.backupKeepDays, "Days to keep backups.", "n") var backupKeepDays: String?

    @Option(.contentKeepSize, "Limit for cached pictures and files.", "size") var contentKeepSize: String?

    @Option(.listenTCP, "The API's TCP address, or off.", "ip:port") var listenTCP: String?
    @Option(.listenUnix, "The API's Unix socket, or off.", "path") var listenUnix: String?
    @Option(flag: .listenAllowRemote, "Allow listening beyond this machine.") var listenAllowRemote: String?
    @Option(flag: .listenAllowPlainHTTP, "Serve other machines without encryption.") var listenAllowPlainHTTP: String?
    @Option(.listenTCPWithoutToken, "What callers on this machine may do without the token.", "all|reads|never")
    var listenTCPWithoutToken: String?
    @Option(.listenGroup, "The group whose members may call the API.", "group") var listenGroup: String?
    @Option(.listenRate, "Calls per second per caller, or off.", "n") var listenRate: String?
    @Option(.listenThreads, "Server threads.", "n") var listenThreads: String?

    @Option(.signalsListen, "Where the upstream's webhooks arrive, or off.", "ip:port") var signalsListen: String?
    @Option(.signalsSecretFile, "The secrets that sign webhooks.", "file") var signalsSecretFile: String?

    @Option(.standbyMembers, "The addresses of etcd's members.", "urls") var standbyMembers: String?
    @Option(.standbyKey, "What the keys of this account in etcd begin with.", "name") var standbyKey: String?
    @Option(.standbyTTL, "How long the lease lasts without renewal.", "duration") var standbyTTL: String?
    @Option(flag: .standbySync, "Store each queued change in etcd as well.") var standbySync: String?
    @Option(flag: .standbyAllowPlainHTTP, "Allow http addresses of etcd on another machine.")
    var standbyAllowPlainHTTP: String?
    @Option(.standbyCAFile, "The certificates that etcd's are checked with.", "file") var standbyCAFile: String?
    @Option(.standbyCertificateFile, "This daemon's certificate for etcd.", "file") var standbyCertificateFile: String?
    @Option(.standbyCertificateKeyFile, "The key of that certificate.", "file") var standbyCertificateKeyFile: String?
    @Option(.standbyUser, "A user of etcd.", "name") var standbyUser: String?
    @Option(.standbyPasswordFile, "That user's password.", "file") var standbyPasswordFile: String?

    @Option(.dashboardTimeZone, "The dashboard's time zone.", "zone") var dashboardTimeZone: String?

    @Option(.remindersCommand, "A command to run for each reminder.", "path") var remindersCommand: String?
    @Option(.remindersWebhook, "A URL on this machine that receives each reminder.", "url")
    var remindersWebhook: String?
    @Option(.remindersSecretFile, "The secrets that sign what that URL receives.", "file")
    var remindersSecretFile: String?
    @Option(.remindersDeadline, "Limit per delivery.", "duration") var remindersDeadline: String?
    @Option(.remindersHour, "The hour at which reminders of a date are due.", "hour") var remindersHour: String?

    @Option(flag: .mirrorEnabled, "Mirror the cache to plain files.") var mirrorEnabled: String?
    @Option(.mirrorDirectory, "The mirror's directory.", "path") var mirrorDirectory: String?

    @Option(.logLevel, "From trace to critical.", "level") var logLevel: String?
    @Option(.logFormat, "text or json.", "format") var logFormat: String?

    /// `NAME=VALUE`, as given.
    var maps: [ConfigurationMap: [String]] { [.settings: upstreamSettings, .secrets: upstreamSecrets] }

    /// The flags that are set. Each of their properties has the name of its key.
    var flags: [ConfigurationKey: String] {
        let keys = Dictionary(uniqueKeysWithValues: ConfigurationKey.allCases.map { ("_\($0)", $0) })
        return Mirror(reflecting: self).children.reduce(into: [:]) { flags, property in
            guard let key = property.label.flatMap({ keys[$0] }) else { return }
            flags[key] = (property.value as? Option<String?>)?.wrappedValue
        }
    }
}

extension Option<String?> {
    fileprivate init(_ key: ConfigurationKey, _ help: String, _ valueName: String) {
        self.init(name: .customLong(key.flag), help: ArgumentHelp(help, valueName: valueName))
    }

    /// `true` if it has no value.
    fileprivate init(flag key: ConfigurationKey, _ help: String) {
        self.init(
            name: .customLong(key.flag), defaultAsFlag: "true", help: ArgumentHelp(help, valueName: "true|false"))
    }
}
