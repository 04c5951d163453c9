/// Reads what concerns a standby.
extension ConfigurationReader {
    func standby() throws(ConfigurationError) -> Configuration.Standby {
        let standby = Configuration.Standby(
            members: try members(), allowPlainHTTP: try values.boolean(.standbyAllowPlainHTTP),
            key: try values.name(.standbyKey) ?? "repairminder-sync",
            ttl: try values.duration(.standbyTTL, from: "3s", to: "10m", else: "15s"),
            isSync: try values.boolean(.standbySync), caFile: try path(.standbyCAFile),
            certificateFile: try path(.standbyCertificateFile),
            certificateKeyFile: try path(.standbyCertificateKeyFile), user: try values.name(.standbyUser),
            passwordFile: try path(.standbyPasswordFile))
        guard !standby.members.isEmpty else { return standby }
        if let open = standby.members.first(where: Self.isOpen), !standby.allowPlainHTTP {
            throw error(
                "\(open) is not encrypted; use https, or set standby.allow_plain_http to true if no one can read the traffic "
                    + "of that network", at: .standbyMembers)
        }
        try requirePair(
            .standbyCertificateFile, standby.certificateFile, .standbyCertificateKeyFile, standby.certificateKeyFile)
        try requirePair(.standbyUser, standby.user, .standbyPasswordFile, standby.passwordFile)
        return standby
    }

    private static func isOpen(_ url: String) -> Bool {
        !url.hasPrefix("https://") && !ConfigurationValues.isOfThisMachine(url)
    }

    private func members() throws(ConfigurationError) -> [String] {
        guard let value = layers[.standbyMembers] else { return [] }
        var members: [String] = []
        for part in value.text.split(whereSeparator: { $0 == "," || $0 == " " }) {
            guard let url = ConfigurationValues.baseURL(String(part)) else {
                throw ConfigurationError(
                    place: value.place,
                    problem: "\"\(part)\" is not valid; expected URLs such as https://etcd-1:2379, separated by commas")
            }
            members.append(url)
        }
        guard !members.isEmpty else {
            throw ConfigurationError(place: value.place, problem: "the value is empty; expected the members' addresses")
        }
        return members
    }

    private func requirePair(
        _ one: ConfigurationKey, _ first: String?, _ other: ConfigurationKey, _ second: String?
    ) throws(ConfigurationError) {
        guard (first == nil) != (second == nil) else { return }
        throw error("\(one.rawValue) and \(other.rawValue) belong together; set both or none", at: one, other)
    }
}
