import EntitySchema

/// What crosses the network unencrypted.
extension Configuration {
    /// Throws when the token and records would go to another machine unencrypted, and `upstream.allow_plain_http` does not
    /// allow that.
    func requireEncryption(for schema: EntitySchema) throws(ConfigurationError) {
        guard let address = plainUpstream(of: schema), !upstream.allowPlainHTTP else { return }
        throw ConfigurationError(
            place: "upstream.base_url",
            problem: "token and records would be sent unencrypted to \(address); use https, or set "
                + "upstream.allow_plain_http to true if no one can read the traffic of that network")
    }

    /// What was allowed and is in use: a sentence for each, for the log, the status and doctor.
    func plainHTTP(with schema: EntitySchema) -> [String] {
        var warnings: [String] = []
        if let address = plainUpstream(of: schema), upstream.allowPlainHTTP {
            warnings.append("token and records are sent unencrypted to \(address) (upstream.allow_plain_http)")
        }
        if let address = listen.tcp, !address.isLoopback, listen.allowPlainHTTP {
            warnings.append(
                "other machines send the token unencrypted to \(address) and read records from it "
                    + "(listen.allow_plain_http)")
        }
        return warnings
    }

    /// The upstream's address if it is on another machine and without TLS.
    private func plainUpstream(of schema: EntitySchema) -> String? {
        address(with: schema).flatMap { PlainHTTP.leavesMachine($0) ? $0 : nil }
    }
}
