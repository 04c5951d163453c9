import ArgumentParser

/// Every key of the configuration as a flag, and the file that has the rest.
struct ConfigurationOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The configuration file (YAML or JSON).", valueName: "file"))
    var config: String?

    @Option(name: .customLong("schema"), help: ArgumentHelp("A schema's name or path.", valueName: "name"))
    var schema: String?

    @Option(name: .customLong("state-dir"), help: ArgumentHelp("Where everything is kept.", valueName: "path"))
    var stateDirectory: String?

    @Option(name: .customLong("secret-key-file"), help: ArgumentHelp("The key of secrets.", valueName: "file"))
    var secretKeyFile: String?

    @Option(name: .customLong("upstream.base-url"), help: ArgumentHelp("The upstream's address.", valueName: "url"))
    var upstreamBaseURL: String?

    @Option(name: .customLong("upstream.token-file"), help: ArgumentHelp("Its bearer token.", valueName: "file"))
    var upstreamTokenFile: String?

    @Option(name: .customLong("upstream.parallel"), help: ArgumentHelp("Requests in flight.", valueName: "n"))
    var upstreamParallel: String?

    @Option(name: .customLong("upstream.deadline"), help: ArgumentHelp("For one request.", valueName: "duration"))
    var upstreamDeadline: String?

    @Option(name: .customLong("sync.interval"), help: ArgumentHelp("Between two syncs.", valueName: "duration"))
    var syncInterval: String?

    @Option(name: .customLong("sync.full-every"), help: ArgumentHelp("Between full syncs.", valueName: "duration"))
    var syncFullEvery: String?

    @Option(
        name: .customLong("sync.delete-guard"),
        help: ArgumentHelp("The share of records that one sync may find deleted.", valueName: "percent"))
    var syncDeleteGuard: String?

    @Option(
        name: .customLong("sync.write-delay"),
        help: ArgumentHelp("From a local change to its sending.", valueName: "duration"))
    var syncWriteDelay: String?

    @Option(name: .customLong("retry.max-attempts"), help: ArgumentHelp("Before a change fails.", valueName: "n"))
    var retryMaximumAttempts: String?

    @Option(name: .customLong("retry.base"), help: ArgumentHelp("The first backoff.", valueName: "duration"))
    var retryBase: String?

    @Option(name: .customLong("retry.cap"), help: ArgumentHelp("The longest backoff.", valueName: "duration"))
    var retryCap: String?

    @Option(
        name: .customLong("history.keep-days"), help: ArgumentHelp("How long the change log is kept.", valueName: "n"))
    var historyKeepDays: String?

    @Option(
        name: .customLong("history.keep-changes"),
        help: ArgumentHelp("How many changes the change log keeps.", valueName: "n"))
    var historyKeepChanges: String?

    @Option(name: .customLong("backup.every"), help: ArgumentHelp("Between backups, or off.", valueName: "duration"))
    var backupEvery: String?

    @Option(name: .customLong("backup.keep"), help: ArgumentHelp("How many backups are kept.", valueName: "n"))
    var backupKeep: String?

    @Option(name: .customLong("backup.keep-days"), help: ArgumentHelp("How long backups are kept.", valueName: "n"))
    var backupKeepDays: String?

    @Option(
        name: .customLong("content.keep-size"),
        help: ArgumentHelp("How much is kept of pictures and files.", valueName: "size"))
    var contentKeepSize: String?

    @Option(name: .customLong("listen.tcp"), help: ArgumentHelp("Where the API listens, or off.", valueName: "ip:port"))
    var listenTCP: String?

    @Option(name: .customLong("listen.unix"), help: ArgumentHelp("Its Unix socket, or off.", valueName: "path"))
    var listenUnix: String?

    @Option(
        name: .customLong("listen.allow-remote"), defaultAsFlag: "true",
        help: ArgumentHelp("Allow to listen beyond this machine.", valueName: "true|false"))
    var listenAllowRemote: String?

    @Option(
        name: .customLong("listen.group"),
        help: ArgumentHelp("The group whose members may call.", valueName: "group"))
    var listenGroup: String?

    @Option(
        name: .customLong("listen.rate"), help: ArgumentHelp("Calls a second of one caller, or off.", valueName: "n"))
    var listenRate: String?

    @Option(name: .customLong("listen.threads"), help: ArgumentHelp("Threads that serve.", valueName: "n"))
    var listenThreads: String?

    @Option(
        name: .customLong("dashboard.time-zone"),
        help: ArgumentHelp("By whose days the dashboard counts.", valueName: "zone"))
    var dashboardTimeZone: String?

    @Option(
        name: .customLong("reminders.command"),
        help: ArgumentHelp("A program to run for each reminder, with arguments.", valueName: "path"))
    var remindersCommand: String?

    @Option(
        name: .customLong("reminders.webhook"),
        help: ArgumentHelp("Where on this machine to post each reminder.", valueName: "url"))
    var remindersWebhook: String?

    @Option(
        name: .customLong("reminders.deadline"), help: ArgumentHelp("For one delivery.", valueName: "duration"))
    var remindersDeadline: String?

    @Option(
        name: .customLong("reminders.hour"),
        help: ArgumentHelp("When on a day to remind of a date.", valueName: "hour"))
    var remindersHour: String?

    @Option(
        name: .customLong("mirror.enabled"), defaultAsFlag: "true",
        help: ArgumentHelp("Keep a copy in plain files.", valueName: "true|false"))
    var mirrorEnabled: String?

    @Option(name: .customLong("mirror.directory"), help: ArgumentHelp("Where that is.", valueName: "path"))
    var mirrorDirectory: String?

    @Option(name: .customLong("log.level"), help: ArgumentHelp("trace to critical.", valueName: "level"))
    var logLevel: String?

    @Option(name: .customLong("log.format"), help: ArgumentHelp("text or json.", valueName: "format"))
    var logFormat: String?

    func configuration(environment: Environment) throws(ConfigurationError) -> Configuration {
        try ConfigurationReader(path: config, flags: flags, environment: environment).configuration()
    }

    func setupReader(environment: Environment) -> SetupReader {
        SetupReader(path: config, flags: flags, environment: environment)
    }

    /// The flags that were given.
    var flags: [ConfigurationKey: String] {
        let all: [ConfigurationKey: String?] = [
            .schema: schema, .stateDirectory: stateDirectory, .secretKeyFile: secretKeyFile,
            .upstreamBaseURL: upstreamBaseURL,
            .upstreamTokenFile: upstreamTokenFile, .upstreamParallel: upstreamParallel,
            .upstreamDeadline: upstreamDeadline, .syncInterval: syncInterval, .syncFullEvery: syncFullEvery,
            .syncDeleteGuard: syncDeleteGuard, .syncWriteDelay: syncWriteDelay,
            .retryMaximumAttempts: retryMaximumAttempts, .retryBase: retryBase, .retryCap: retryCap,
            .historyKeepDays: historyKeepDays, .historyKeepChanges: historyKeepChanges,
            .backupEvery: backupEvery, .backupKeep: backupKeep, .backupKeepDays: backupKeepDays,
            .contentKeepSize: contentKeepSize,
            .listenTCP: listenTCP, .listenUnix: listenUnix, .listenAllowRemote: listenAllowRemote,
            .listenGroup: listenGroup, .listenRate: listenRate, .listenThreads: listenThreads,
            .dashboardTimeZone: dashboardTimeZone,
            .remindersCommand: remindersCommand, .remindersWebhook: remindersWebhook,
            .remindersDeadline: remindersDeadline, .remindersHour: remindersHour,
            .mirrorEnabled: mirrorEnabled, .mirrorDirectory: mirrorDirectory,
            .logLevel: logLevel, .logFormat: logFormat,
        ]
        return all.compactMapValues(\.self)
    }
}
