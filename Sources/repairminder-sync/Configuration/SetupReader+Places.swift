extension SetupReader {
    /// Throws when every user of the machine could put another file in place of one with a secret or with certificates, or
    /// change the certificates: requests would then go out as another account, or to another server.
    func checkPlaces(of configuration: Configuration) throws(ConfigurationError) {
        let upstream = configuration.upstream
        try checkPlace(upstream.tokenFile, key: "upstream.token_file", kind: "token file")
        for (name, path) in upstream.secrets.sorted(by: { $0.key < $1.key }) {
            try checkPlace(path, key: "upstream.secrets.\(name)", kind: "secret file")
        }
        try checkPlace(configuration.secretKeyFile, key: "secret_key_file", kind: "key file")
        try checkPlace(configuration.signals.secretFile, key: "signals.secret_file", kind: "secret file")
        try checkPlace(configuration.reminders.secretFile, key: "reminders.secret_file", kind: "secret file")
        for hook in configuration.hooks {
            guard case .webhook(_, let path?) = hook.recipient else { continue }
            try checkPlace(path, key: hook.places["secret_file"] ?? "", kind: "secret file")
        }
        let standby = configuration.standby
        try checkPlace(standby.caFile, key: "standby.ca_file", kind: "certificate file")
        try checkPlace(standby.certificateFile, key: "standby.certificate_file", kind: "certificate file")
        try checkPlace(standby.certificateKeyFile, key: "standby.certificate_key_file", kind: "key file")
        try checkPlace(standby.passwordFile, key: "standby.password_file", kind: "password file")
    }

    /// Throws when every user of the machine could change the file, or put another in its place. `key`: where it is named.
    func checkPlace(_ path: String?, key: String, kind: String) throws(ConfigurationError) {
        guard let path, let problem = ProgramFile(path: environment.absolute(path), kind: kind).refusal else { return }
        throw ConfigurationError(place: key, problem: problem)
    }
}
