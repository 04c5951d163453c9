import CacheStore
import EntitySchema
import Upstream

/// Reads all files that configure the daemon and checks that they work together.
struct SetupReader: Sendable {
    /// The configuration file; nil for the system's.
    let path: String?
    let flags: [ConfigurationKey: String]
    /// `NAME=VALUE`, as given.
    var maps: [ConfigurationMap: [String]] = [:]
    let environment: Environment
    /// Whether the key file is checked, which only the daemon's user may read.
    var checksKey = true
    var bundle = BundleReading()

    /// Throws for the first problem that a person must fix. Something still missing, such as a sign-in, is not an
    /// error.
    func setup() throws(ConfigurationError) -> Setup {
        let configuration = try ConfigurationReader(
            path: path, flags: flags, maps: maps, environment: environment, bundle: bundle
        )
        .configuration()
        let finder = SchemaFinder(environment: environment)
        let source = try finder.source(for: configuration)
        let files = ownFiles(configuration, source)
        try requireOwn(files)
        var setup = Setup(
            configuration: configuration, schema: try finder.schema(from: source, for: configuration),
            schemaFile: source.file, schemaSHA256: source.sha256)
        try configuration.requireEncryption(for: setup.schema)
        setup.configuration.warnings += configuration.plainHTTP(with: setup.schema)
        setup.configuration.warnings += files.compactMap(\.groupWarning)
        try checkToken(configuration, setup.schema)
        try checkSecrets(configuration, setup.schema)
        if checksKey { try checkKey(configuration) }
        try checkSignals(&setup)
        try checkHooks(setup)
        try checkReminders(configuration)
        setup.configuration.warnings += configuration.hooks(for: setup.schema).compactMap(\.programWarning)
        try checkPlaces(of: configuration)
        return setup
    }

    /// The configuration and the schema: they say what runs, and where tokens and passwords are sent.
    private func ownFiles(_ configuration: Configuration, _ schema: SchemaFinder.Source) -> [ProgramFile] {
        // A configuration file can name a program.
        let files = ([configuration.file].compactMap(\.self) + configuration.parts).map {
            ProgramFile(path: environment.absolute($0), kind: "configuration")
        }
        // A schema that is pinned by its hash cannot change, and one that is built in or in a bundle has no file.
        guard configuration.schemaPin.sha256 == nil, environment.isFile(schema.file) else { return files }
        return files + [ProgramFile(path: environment.absolute(schema.file), kind: "schema")]
    }

    /// Throws when every user of the machine can change one of them.
    private func requireOwn(_ files: [ProgramFile]) throws(ConfigurationError) {
        for file in files { try checkPlace(file.path, key: file.path, kind: file.kind) }
    }

    /// What a group of users could change that says what the daemon runs.
    func groupWarnings(of configuration: Configuration) throws(ConfigurationError) -> [String] {
        let source = try SchemaFinder(environment: environment).source(for: configuration)
        return ownFiles(configuration, source).compactMap(\.groupWarning)
    }

    /// The schema, for a command that sends credentials where it says. Throws when every user of the machine can change it or
    /// the configuration.
    func ownSchema(for configuration: Configuration) throws(ConfigurationError) -> EntitySchema {
        let finder = SchemaFinder(environment: environment)
        let source = try finder.source(for: configuration)
        try requireOwn(ownFiles(configuration, source))
        return try finder.schema(from: source, for: configuration)
    }

    private func checkReminders(_ configuration: Configuration) throws(ConfigurationError) {
        let reminders = configuration.reminders
        switch reminders.recipient {
        case .command(let path, _)?: try checkPlace(path, key: "reminders.command", kind: "program")
        case .webhook(_, let path?)?: try checkSecrets(path, key: "reminders.secret_file")
        default: break
        }
        if reminders.secretFile != nil, reminders.recipient?.isWebhook != true {
            throw ConfigurationError(
                place: "reminders.secret_file",
                problem: "it signs what reminders.webhook gets; set that, or remove this")
        }
        let name = HookRule.reminders.name
        guard reminders.recipient != nil, configuration.hooks.contains(where: { $0.rule.name == name }) else { return }
        throw ConfigurationError(
            place: "hooks.\(name)", problem: "the hook that delivers reminders has this name; expected another one")
    }

    private func checkSecrets(_ path: String, key: String, place: String? = nil) throws(ConfigurationError) {
        guard checksKey else { return }
        try check(place ?? key) { () throws(TokenFileError) in _ = try SignalSecrets(path: path, key: key).read() }
    }

    private func checkHooks(_ setup: Setup) throws(ConfigurationError) {
        for hook in setup.configuration.hooks {
            try hook.check(setup.schema)
            if case .command(let path, _) = hook.recipient {
                try checkPlace(path, key: hook.places["command"] ?? "", kind: "program")
            }
            guard case .webhook(_, let path?) = hook.recipient else { continue }
            try checkSecrets(path, key: hook.secretKey, place: hook.places["secret_file"])
        }
    }

    /// Webhooks need a listener, and a listener needs webhooks and their secret.
    private func checkSignals(_ setup: inout Setup) throws(ConfigurationError) {
        let signals = setup.configuration.signals
        let hasWebhooks = setup.schema.upstream.signals.contains(where: \.isWebhook)
        guard let address = signals.listen else {
            if hasWebhooks {
                setup.configuration.warnings.append(
                    "the schema has a webhook, but signals.listen is off; only polling finds those changes")
            }
            return
        }
        guard hasWebhooks else {
            setup.configuration.warnings.append(
                "signals.listen is \(address), but the schema has no webhook in upstream.signals; nothing listens there"
            )
            return
        }
        guard let path = signals.secretFile else {
            throw ConfigurationError(
                place: "signals.secret_file",
                problem: "it is missing; signals.listen needs a file with the secret that signs the webhooks")
        }
        try check("signals.secret_file") { () throws(TokenFileError) in _ = try SignalSecrets(path: path).read() }
    }

    private func checkToken(_ configuration: Configuration, _ schema: EntitySchema) throws(ConfigurationError) {
        guard let path = configuration.upstream.tokenFile else { return }
        try check("upstream.token_file") { () throws(TokenFileError) in
            _ = try FileToken(path: path, for: schema.upstream.tokenPlace)
        }
    }

    /// One that is not stored yet is no error; one that others may read, or that holds no credential, is.
    private func checkSecrets(_ configuration: Configuration, _ schema: EntitySchema) throws(ConfigurationError) {
        let secrets = SecretFiles(paths: configuration.upstream.secrets)
        let calls = [schema.upstream.session, schema.upstream.refresh?.call].compactMap(\.self)
        for name in calls.flatMap(\.secretNames) + schema.upstream.headerSecrets where secrets.paths[name] != nil {
            guard let problem = secrets.problem(with: [name]) else { continue }
            throw ConfigurationError(place: "upstream.secrets.\(name)", problem: problem)
        }
    }

    /// A state directory of another user is refused as such when it is opened.
    private func checkKey(_ configuration: Configuration) throws(ConfigurationError) {
        let file = SecretKeyFile(configuration)
        if file.isInForeignDirectory { return }
        try check("secret_key_file") { () throws(TokenFileError) in _ = try file.existing() }
    }

    /// Reports what is wrong with a file at the key that names it.
    private func check(_ key: String, _ read: () throws(TokenFileError) -> Void) throws(ConfigurationError) {
        do {
            try read()
        } catch {
            throw ConfigurationError(place: key, problem: error.message)
        }
    }
}
