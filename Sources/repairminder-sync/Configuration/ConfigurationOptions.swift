import ArgumentParser

/// Every configuration key as a flag, and `--config` for the file.
struct ConfigurationOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The configuration file (YAML or JSON).", valueName: "file"))
    var config: String?

    @Option(name: .customLong("schema"), help: ArgumentHelp("A schema's name or path.", valueName: "name"))
    var schema: String?

    @Option(name: .customLong("state-dir"), help: ArgumentHelp("The state directory.", valueName: "path"))
    var stateDirectory: String?

    @Option(
        name: .customLong("secret-key-file"), help: ArgumentHelp("The key that encrypts secrets.", valueName: "file"))
    var secretKeyFile: String?

    @Option(
        name: .customLong("instance"), help: ArgumentHelp("What this daemon is called among others.", valueName: "name")
    )
    var instance: String?

    @Option(name: .customLong("site"), help: ArgumentHelp("Where this daemon is, such as a shop.", valueName: "name"))
    var site: String?

    @Option(
        name: .customLong("schema.version"), help: ArgumentHelp("The version that the schema has.", valueName: "name"))
    var schemaVersion: String?

    @Option(
        name: .customLong("schema.sha256"), help: ArgumentHelp("The SHA-256 of the schema's file.", valueName: "hash"))
    var schemaSHA256: String?

    @Option(name: .customLong("upstream.base-url"), help: ArgumentHelp("The upstream's address.", valueName: "url"))
    var upstreamBaseURL: String?

    @Option(
        name: .customLong("upstream.allow-plain-http"), defaultAsFlag: "true",
        help: ArgumentHelp("Allow an http address on another machine.", valueName: "true|false"))
    var upstreamAllowPlainHTTP: String?

    @Option(name: .customLong("upstream.token-file"), help: ArgumentHelp("The upstream's token.", valueName: "file"))
    var upstreamTokenFile: String?

    @Option(
        name: .customLong("upstream.setting"), parsing: .singleValue,
        help: ArgumentHelp("A setting of the schema; can be repeated.", valueName: "name=value"))
    var upstreamSettings: [String] = []

    @Option(
        name: .customLong("upstream.secret"), parsing: .singleValue,
        help: ArgumentHelp("A credential's file; can be repeated.", valueName: "name=file"))
    var upstreamSecrets: [String] = []

    @Option(name: .customLong("upstream.parallel"), help: ArgumentHelp("Parallel requests.", valueName: "n"))
    var upstreamParallel: String?

    @Option(name: .customLong("upstream.deadline"), help: ArgumentHelp("Limit per request.", valueName: "duration"))
    var upstreamDeadline: String?

    @Option(name: .customLong("sync.interval"), help: ArgumentHelp("Time between syncs.", valueName: "duration"))
    var syncInterval: String?

    @Option(name: .customLong("sync.full-every"), help: ArgumentHelp("Time between full syncs.", valueName: "duration"))
    var syncFullEvery: String?

    @Option(
        name: .customLong("sync.delete-guard"),
        help: ArgumentHelp("The share of records that one sync may delete.", valueName: "percent"))
    var syncDeleteGuard: String?

    @Option(
        name: .customLong("sync.write-delay"),
        help: ArgumentHelp("Delay before a local change is sent.", valueName: "duration"))
    var syncWriteDelay: String?

    @Option(
        name: .customLong("sync.spread"), defaultAsFlag: "true",
        help: ArgumentHelp("Keep out of step with other machines.", valueName: "true|false"))
    var syncSpread: String?

    @Option(name: .customLong("retry.max-attempts"), help: ArgumentHelp("Attempts per change.", valueName: "n"))
    var retryMaximumAttempts: String?

    @Option(name: .customLong("retry.base"), help: ArgumentHelp("The first backoff.", valueName: "duration"))
    var retryBase: String?

    @Option(name: .customLong("retry.cap"), help: ArgumentHelp("The longest backoff.", valueName: "duration"))
    var retryCap: String?

    @Option(
        name: .customLong("history.keep-days"), help: ArgumentHelp("Days kept in the change log.", valueName: "n"))
    var historyKeepDays: String?

    @Option(
        name: .customLong("history.keep-changes"),
        help: ArgumentHelp("Changes kept in the change log.", valueName: "n"))
    var historyKeepChanges: String?

    @Option(
        name: .customLong("backup.every"), help: ArgumentHelp("Time between backups, or off.", valueName: "duration"))
    var backupEvery: String?

    @Option(name: .customLong("backup.keep"), help: ArgumentHelp("Backups to keep.", valueName: "n"))
    var backupKeep: String?

    @Option(name: .customLong("backup.keep-days"), help: ArgumentHelp("Days to keep backups.", valueName: "n"))
    var backupKeepDays: String?

    @Option(
        name: .customLong("content.keep-size"),
        help: ArgumentHelp("Limit for cached pictures and files.", valueName: "size"))
    var contentKeepSize: String?

    @Option(name: .customLong("listen.tcp"), help: ArgumentHelp("The API's TCP address, or off.", valueName: "ip:port"))
    var listenTCP: String?

    @Option(name: .customLong("listen.unix"), help: ArgumentHelp("The API's Unix socket, or off.", valueName: "path"))
    var listenUnix: String?

    @Option(
        name: .customLong("listen.allow-remote"), defaultAsFlag: "true",
        help: ArgumentHelp("Allow listening beyond this machine.", valueName: "true|false"))
    var listenAllowRemote: String?

    @Option(
        name: .customLong("listen.allow-plain-http"), defaultAsFlag: "true",
        help: ArgumentHelp("Serve other machines without encryption.", valueName: "true|false"))
    var listenAllowPlainHTTP: String?

    @Option(
        name: .customLong("listen.tcp-without-token"),
        help: ArgumentHelp("What callers on this machine may do without the token.", valueName: "all|reads|never"))
    var listenTCPWithoutToken: String?

    @Option(
        name: .customLong("listen.group"),
        help: ArgumentHelp("The group whose members may call the API.", valueName: "group"))
    var listenGroup: String?

    @Option(
        name: .customLong("listen.rate"), help: ArgumentHelp("Calls per second per caller, or off.", valueName: "n"))
    var listenRate: String?

    @Option(name: .customLong("listen.threads"), help: ArgumentHelp("Server threads.", valueName: "n"))
    var listenThreads: String?

    @Option(
        name: .customLong("signals.listen"),
        help: ArgumentHelp("Where the upstream's webhooks arrive, or off.", valueName: "ip:port"))
    var signalsListen: String?

    @Option(
        name: .customLong("signals.secret-file"),
        help: ArgumentHelp("The secrets that sign webhooks.", valueName: "file"))
    var signalsSecretFile: String?

    @Option(
        name: .customLong("standby.etcd"),
        help: ArgumentHelp("The addresses of etcd's members.", valueName: "urls"))
    var standbyMembers: String?

    @Option(
        name: .customLong("standby.key"),
        help: ArgumentHelp("What the keys of this account in etcd begin with.", valueName: "name"))
    var standbyKey: String?

    @Option(
        name: .customLong("standby.ttl"),
        help: ArgumentHelp("How long the lease lasts without renewal.", valueName: "duration"))
    var standbyTTL: String?

    @Option(
        name: .customLong("standby.sync"), defaultAsFlag: "true",
        help: ArgumentHelp("Store each queued change in etcd as well.", valueName: "true|false"))
    var standbySync: String?

    @Option(
        name: .customLong("standby.allow-plain-http"), defaultAsFlag: "true",
        help: ArgumentHelp("Allow http addresses of etcd on another machine.", valueName: "true|false"))
    var standbyAllowPlainHTTP: String?

    @Option(
        name: .customLong("standby.ca-file"),
        help: ArgumentHelp("The certificates that etcd's are checked with.", valueName: "file"))
    var standbyCAFile: String?

    @Option(
        name: .customLong("standby.certificate-file"),
        help: ArgumentHelp("This daemon's certificate for etcd.", valueName: "file"))
    var standbyCertificateFile: String?

    @Option(
        name: .customLong("standby.certificate-key-file"),
        help: ArgumentHelp("The key of that certificate.", valueName: "file"))
    var standbyCertificateKeyFile: String?

    @Option(
        name: .customLong("standby.user"),
        help: ArgumentHelp("A user of etcd.", valueName: "name"))
    var standbyUser: String?

    @Option(
        name: .customLong("standby.password-file"),
        help: ArgumentHelp("That user's password.", valueName: "file"))
    var standbyPasswordFile: String?

    @Option(
        name: .customLong("dashboard.time-zone"),
        help: ArgumentHelp("The dashboard's time zone.", valueName: "zone"))
    var dashboardTimeZone: String?

    @Option(
        name: .customLong("reminders.command"),
        help: ArgumentHelp("A command to run for each reminder.", valueName: "path"))
    var remindersCommand: String?

    @Option(
        name: .customLong("reminders.webhook"),
        help: ArgumentHelp("A URL on this machine that receives each reminder.", valueName: "url"))
    var remindersWebhook: String?

    @Option(
        name: .customLong("reminders.secret-file"),
        help: ArgumentHelp("The secrets that sign what that URL receives.", valueName: "file"))
    var remindersSecretFile: String?

    @Option(
        name: .customLong("reminders.deadline"), help: ArgumentHelp("Limit per delivery.", valueName: "duration"))
    var remindersDeadline: String?

    @Option(
        name: .customLong("reminders.hour"),
        help: ArgumentHelp("The hour at which reminders of a date are due.", valueName: "hour"))
    var remindersHour: String?

    @Option(
        name: .customLong("mirror.enabled"), defaultAsFlag: "true",
        help: ArgumentHelp("Mirror the cache to plain files.", valueName: "true|false"))
    var mirrorEnabled: String?

    @Option(name: .customLong("mirror.directory"), help: ArgumentHelp("The mirror's directory.", valueName: "path"))
    var mirrorDirectory: String?

    @Option(name: .customLong("log.level"), help: ArgumentHelp("From trace to critical.", valueName: "level"))
    var logLevel: String?

    @Option(name: .customLong("log.format"), help: ArgumentHelp("text or json.", valueName: "format"))
    var logFormat: String?

    func configuration(environment: Environment) throws(ConfigurationError) -> Configuration {
        try ConfigurationReader(path: config, flags: flags, maps: maps, environment: environment).configuration()
    }

    /// Where each value comes from that is no default.
    func origins(environment: Environment) throws(ConfigurationError) -> [ConfigurationOrigin] {
        try ConfigurationReader(path: config, flags: flags, maps: maps, environment: environment).origins()
    }

    func setupReader(environment: Environment) -> SetupReader {
        SetupReader(path: config, flags: flags, maps: maps, environment: environment)
    }

    /// `NAME=VALUE`, as given.
    private var maps: [ConfigurationMap: [String]] { [.settings: upstreamSettings, .secrets: upstreamSecrets] }

    /// The flags that are set.
    var flags: [ConfigurationKey: String] {
        let all: [ConfigurationKey: String?] = [
            .schema: schema, .stateDirectory: stateDirectory, .secretKeyFile: secretKeyFile,
            .instance: instance, .site: site, .schemaVersion: schemaVersion, .schemaSHA256: schemaSHA256,
            .upstreamBaseURL: upstreamBaseURL, .upstreamAllowPlainHTTP: upstreamAllowPlainHTTP,
            .upstreamTokenFile: upstreamTokenFile, .upstreamParallel: upstreamParallel,
            .upstreamDeadline: upstreamDeadline, .syncInterval: syncInterval, .syncFullEvery: syncFullEvery,
            .syncDeleteGuard: syncDeleteGuard, .syncWriteDelay: syncWriteDelay, .syncSpread: syncSpread,
            .retryMaximumAttempts: retryMaximumAttempts, .retryBase: retryBase, .retryCap: retryCap,
            .historyKeepDays: historyKeepDays, .historyKeepChanges: historyKeepChanges,
            .backupEvery: backupEvery, .backupKeep: backupKeep, .backupKeepDays: backupKeepDays,
            .contentKeepSize: contentKeepSize,
            .listenTCP: listenTCP, .listenUnix: listenUnix, .listenAllowRemote: listenAllowRemote,
            .listenAllowPlainHTTP: listenAllowPlainHTTP, .listenTCPWithoutToken: listenTCPWithoutToken,
            .listenGroup: listenGroup, .listenRate: listenRate, .listenThreads: listenThreads,
            .signalsListen: signalsListen, .signalsSecretFile: signalsSecretFile,
            .dashboardTimeZone: dashboardTimeZone,
            .standbyMembers: standbyMembers, .standbyKey: standbyKey, .standbyTTL: standbyTTL,
            .standbySync: standbySync,
            .standbyAllowPlainHTTP: standbyAllowPlainHTTP, .standbyCAFile: standbyCAFile,
            .standbyCertificateFile: standbyCertificateFile, .standbyCertificateKeyFile: standbyCertificateKeyFile,
            .standbyUser: standbyUser, .standbyPasswordFile: standbyPasswordFile,
            .remindersCommand: remindersCommand, .remindersWebhook: remindersWebhook,
            .remindersSecretFile: remindersSecretFile, .remindersDeadline: remindersDeadline,
            .remindersHour: remindersHour,
            .mirrorEnabled: mirrorEnabled, .mirrorDirectory: mirrorDirectory,
            .logLevel: logLevel, .logFormat: logFormat,
        ]
        return all.compactMapValues(\.self)
    }
}
