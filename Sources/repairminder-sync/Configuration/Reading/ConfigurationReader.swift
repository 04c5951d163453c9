import CacheStore
import EntitySchema
import LocalAPIServer
import Logging

/// Builds a `Configuration` from flags, environment and file: checks every value and fills in defaults.
struct ConfigurationReader {
    let layers: ConfigurationLayers
    let values: ConfigurationValues
    let maps: ConfigurationMaps
    private let environment: Environment
    private let file: String?
    private let contents: ConfigurationFiles.Contents
    /// What a lenient reader left out.
    var problem: ConfigurationError? { contents.problem }

    /// Reads the file at `path` and its folder; without a path, the system's file and folder if they exist.
    ///
    /// Throws when the file at `path` cannot be read, or a file is not a configuration. With `isLenient`, only a file
    /// that is named and cannot be read is an error.
    init(
        path: String?, flags: [ConfigurationKey: String], maps: [ConfigurationMap: [String]] = [:],
        environment: Environment, isLenient: Bool = false, bundle: BundleReading = BundleReading()
    ) throws(ConfigurationError) {
        var files = ConfigurationFiles(named: path, environment: environment)
        files.bundle = bundle
        contents = try files.contents(isLenient: isLenient)
        file = files.path
        layers = ConfigurationLayers(flags: flags, environment: environment.variables, file: contents.file)
        values = ConfigurationValues(layers: layers)
        self.maps = ConfigurationMaps(flags: maps, variables: environment.variables, file: contents.file)
        self.environment = environment
    }

    /// Only where the daemon is, whatever else is wrong.
    func place() throws(ConfigurationError) -> DaemonPlace {
        DaemonPlace(
            unix: try unixSocket(), tcp: try values.address(.listenTCP, else: "localhost:7679"),
            stateDirectory: try stateDirectory())
    }

    /// Throws for the first invalid value.
    func configuration() throws(ConfigurationError) -> Configuration {
        Configuration(
            file: file, parts: contents.parts, schema: try schema(), schemaPin: try schemaPin(), bundle: bundleInUse,
            stateDirectory: try stateDirectory(),
            secretKeyFile: try path(.secretKeyFile) ?? credential("secret-key"), instance: try values.name(.instance),
            site: try values.name(.site), upstream: try upstream(),
            sync: Configuration.Sync(
                interval: try values.duration(.syncInterval, from: "100ms", to: "7d", else: "15m"),
                fullEvery: try values.duration(.syncFullEvery, from: "1s", to: "90d", else: "24h"),
                deleteGuard: try values.percentage(.syncDeleteGuard, else: 20),
                writeDelay: try values.duration(.syncWriteDelay, from: "0ms", to: "1m", else: "100ms"),
                spread: try values.boolean(.syncSpread)),
            retry: try retry(),
            history: Configuration.History(
                keepDays: try values.integer(.historyKeepDays, in: 1...3650, else: 30),
                keepChanges: try values.integer(.historyKeepChanges, in: 100...100_000_000, else: 100_000)),
            backup: try backup(),
            content: Configuration.Content(keepSize: try values.size(.contentKeepSize, else: "1GiB")),
            listen: try listen(),
            signals: Configuration.Signals(
                listen: try values.address(.signalsListen, else: "off"),
                secretFile: try path(.signalsSecretFile) ?? credential("signals-secret")),
            standby: try standby(),
            dashboard: Configuration.Dashboard(timeZone: try values.timeZone(.dashboardTimeZone)),
            reminders: try reminders(), hooks: try hookSettings(), mirror: try mirror(),
            log: Configuration.Log(
                level: try values.choice(.logLevel, else: Logger.Level.info),
                format: try values.choice(.logFormat, else: LogFormat.text)),
            warnings: [contents.warning].compactMap(\.self) + unknownVariables())
    }

    // MARK: Sections

    private func upstream() throws(ConfigurationError) -> Configuration.Upstream {
        Configuration.Upstream(
            baseURL: try values.url(.upstreamBaseURL),
            allowPlainHTTP: try values.boolean(.upstreamAllowPlainHTTP),
            tokenFile: try path(.upstreamTokenFile) ?? credential("upstream-token"),
            settings: try maps.values(of: .settings).mapValues(\.text), secrets: try secrets(),
            parallel: try values.integer(.upstreamParallel, in: 1...RequestLimits.mostParallel, else: 4),
            deadline: try values.duration(.upstreamDeadline, from: "1s", to: "10m", else: "60s"))
    }

    /// Those that the configuration names, and systemd's credentials `upstream-NAME`.
    private func secrets() throws(ConfigurationError) -> [String: String] {
        let named = try maps.values(of: .secrets).mapValues(resolved)
        let folder = environment.variables["CREDENTIALS_DIRECTORY"]
        let prefix = "upstream-"
        let passed = folder.map(environment.names)?.filter { $0.hasPrefix(prefix) && $0 != "upstream-token" } ?? []
        return passed.reduce(into: named) { secrets, file in
            let name = String(file.dropFirst(prefix.count))
            if secrets[name] == nil, let path = credential(file) { secrets[name] = path }
        }
    }

    private func retry() throws(ConfigurationError) -> Configuration.Retry {
        let retry = Configuration.Retry(
            maximumAttempts: try values.integer(.retryMaximumAttempts, in: 1...1000, else: 10),
            base: try values.duration(.retryBase, from: "1ms", to: "1h", else: "2s"),
            cap: try values.duration(.retryCap, from: "1ms", to: "24h", else: "5m"))
        guard retry.base <= retry.cap else {
            throw error(
                "retry.cap is shorter than retry.base; expected at least retry.base", at: .retryCap, .retryBase)
        }
        return retry
    }

    private func backup() throws(ConfigurationError) -> Configuration.Backup {
        let isOff = layers[.backupEvery]?.text == "off"
        return Configuration.Backup(
            every: isOff ? nil : try values.duration(.backupEvery, from: "1s", to: "90d", else: "24h", canBeOff: true),
            keep: try values.integer(.backupKeep, in: 1...1000, else: 7),
            keepDays: try values.integer(.backupKeepDays, in: 1...3650, else: 30))
    }

    private func listen() throws(ConfigurationError) -> Configuration.Listen {
        let listen = Configuration.Listen(
            tcp: try values.address(.listenTCP, else: "localhost:7679"), unix: try unixSocket(),
            allowRemote: try values.boolean(.listenAllowRemote),
            allowPlainHTTP: try values.boolean(.listenAllowPlainHTTP),
            tcpWithoutToken: try values.choice(.listenTCPWithoutToken, else: TokenlessTCP.all),
            group: try values.name(.listenGroup) ?? Configuration.Listen.standardGroup,
            rate: try rate(),
            threads: try values.integer(.listenThreads, in: 1...64, else: 2))
        guard listen.tcp != nil || listen.unix != nil else {
            throw error(
                "listen.tcp is off and there is no Unix socket; set listen.unix to a path", at: .listenTCP)
        }
        try checkReach(of: listen)
        return listen
    }

    /// Throws for an address that other machines can reach, unless that is allowed.
    private func checkReach(of listen: Configuration.Listen) throws(ConfigurationError) {
        guard let tcp = listen.tcp, !tcp.isLoopback else { return }
        guard listen.allowRemote else {
            throw error(
                "\(tcp) is reachable from other machines; set listen.allow_remote to true if that is intended, or listen on "
                    + "127.0.0.1", at: .listenTCP)
        }
        guard listen.allowPlainHTTP else {
            throw error(
                "\(tcp) is reachable from other machines, and the API has no TLS: put a proxy with TLS in front of "
                    + "listen.unix, or set listen.allow_plain_http to true if no one can read the traffic of that network",
                at: .listenTCP)
        }
    }

    private func mirror() throws(ConfigurationError) -> Configuration.Mirror {
        let usual = try stateDirectory() + "/mirror"
        return Configuration.Mirror(
            isEnabled: try values.boolean(.mirrorEnabled),
            directory: try path(.mirrorDirectory) ?? usual)
    }

    private func reminders() throws(ConfigurationError) -> Configuration.Reminders {
        let command = try command(.remindersCommand)
        let webhook = try values.loopbackURL(.remindersWebhook)
        if command != nil, webhook != nil {
            throw error(
                "reminders.command is also set; a reminder is delivered once, so remove one of them",
                at: .remindersWebhook)
        }
        let secretFile = try path(.remindersSecretFile)
        return Configuration.Reminders(
            recipient: webhook.map { .webhook($0, secretFile: secretFile) } ?? command, secretFile: secretFile,
            deadline: try values.duration(.remindersDeadline, from: "1s", to: "10m", else: "30s"),
            hour: try values.integer(.remindersHour, in: 0...23, else: 9))
    }

    /// Only files have hooks. One of a later file replaces the one of the same name.
    func hookSettings() throws(ConfigurationError) -> [HookSettings] {
        guard let file else { return [] }
        var settings: [HookSettings] = []
        for section in contents.file?.hooks ?? [] {
            let reader = HookReader(file: section.path) { environment.absolute($0, from: environment.folder(of: file)) }
            for hook in try reader.hooks(section.node) {
                settings.removeAll { $0.rule.name == hook.rule.name }
                settings.append(hook)
            }
            try reader.requireFew(settings, section.node)
        }
        return settings
    }

    /// A program's path and its arguments, separated by spaces.
    private func command(_ key: ConfigurationKey) throws(ConfigurationError) -> HookSettings.Recipient? {
        guard let value = layers[key] else { return nil }
        let words = value.text.split(separator: " ").map(String.init)
        guard let program = words.first else {
            throw ConfigurationError(place: value.place, problem: "the value is empty; expected a program's path")
        }
        return .command(
            resolved(ConfigurationLayers.Value(text: program, place: value.place, isFromFile: value.isFromFile)),
            words.dropFirst().map { Template(parts: [.text($0)]) })
    }

    private func rate() throws(ConfigurationError) -> Int? {
        guard let value = layers[.listenRate], value.text != "off" else { return nil }
        return try values.integer(.listenRate, in: 1...1_000_000, else: 0, canBeOff: true)
    }

    /// A problem of several keys is reported at the first that is set.
    func error(_ problem: String, at keys: ConfigurationKey...) -> ConfigurationError {
        ConfigurationError(place: keys.lazy.compactMap { layers[$0] }.first?.place ?? "", problem: problem)
    }

    // MARK: Paths

    private func schema() throws(ConfigurationError) -> String {
        guard let value = layers[.schema] else { return "repairminder-live" }
        guard SchemaFinder.isPath(value.text) else { return try values.name(.schema) ?? "" }
        return resolved(value)
    }

    /// A schema that a file, a variable or a flag names counts instead of the bundle's.
    private var bundleInUse: Configuration.Bundle? {
        contents.bundle.map { bundle in
            Configuration.Bundle(
                serial: bundle.serial, comment: bundle.comment, schema: layers[.schema] == nil ? bundle.schema : nil,
                warning: contents.warning)
        }
    }

    private func schemaPin() throws(ConfigurationError) -> SchemaPin {
        SchemaPin(
            version: try values.name(.schemaVersion).map { pinned($0, .schemaVersion) },
            sha256: try values.sha256(.schemaSHA256).map { pinned($0, .schemaSHA256) })
    }

    private func pinned(_ value: String, _ key: ConfigurationKey) -> SchemaPin.Value {
        SchemaPin.Value(text: value, place: layers[key]?.place ?? key.rawValue)
    }

    private func stateDirectory() throws(ConfigurationError) -> String {
        if let path = try path(.stateDirectory) { return path }
        if let path = environment.systemdDirectory("STATE_DIRECTORY") { return path }
        if let home = environment.home { return home + "/.local/state/repairminder-sync" }
        throw ConfigurationError(
            place: "", problem: "state_dir is not set, and neither is $STATE_DIRECTORY or $HOME; set state_dir")
    }

    private func unixSocket() throws(ConfigurationError) -> String? {
        if layers[.listenUnix]?.text == "off" { return nil }
        let path =
            try path(.listenUnix) ?? environment.systemdDirectory("RUNTIME_DIRECTORY").map { $0 + "/api.sock" }
            ?? environment.inheritedSocket
        // sockaddr_un holds 108 bytes, the last of them zero (unix(7)).
        guard let path, path.utf8.count > 107 else { return path }
        throw ConfigurationError(
            place: layers[.listenUnix]?.place ?? "$RUNTIME_DIRECTORY",
            problem: "\(path) is too long for a Unix socket; expected at most 107 bytes")
    }

    func path(_ key: ConfigurationKey) throws(ConfigurationError) -> String? {
        guard let value = layers[key] else { return nil }
        guard !value.text.isEmpty else {
            throw ConfigurationError(place: value.place, problem: "the value is empty; expected a path")
        }
        return resolved(value)
    }

    /// Relative paths in the file start from the file's directory, all others from the working directory.
    private func resolved(_ value: ConfigurationLayers.Value) -> String {
        environment.absolute(value.text, from: value.isFromFile ? file.map(environment.folder) : nil)
    }

    /// An empty credential counts as none: a unit can only default an optional credential to an empty one. One that is no
    /// file counts: it is refused where it is read.
    private func credential(_ name: String) -> String? {
        let path = environment.variables["CREDENTIALS_DIRECTORY"].map { "\($0)/\(name)" }
        return path.flatMap { environment.hasContent($0) ? $0 : nil }
    }

    /// Not an error: the environment may use the prefix for other purposes.
    private func unknownVariables() -> [String] {
        let known = ConfigurationKey.allCases.map(\.variable)
        let unknown = environment.variables.keys.filter {
            $0.hasPrefix(ConfigurationKey.variablePrefix) && !known.contains($0)
        }.filter { name in
            !ConfigurationMap.allCases.contains { name.hasPrefix($0.variablePrefix) && name != $0.variablePrefix }
        }
        return unknown.sorted().map { name in
            let hint = Suggestion.hint(for: name, among: known)
            return "the environment variable \(name) is not a configuration key\(hint)"
        }
    }
}
