/// What a feed is asked to do.
struct FeedSettings: Equatable {
    /// An address such as `postgresql:///reports`, or what libpq calls a connection string.
    var target: String
    /// The schema of the database that the tables are in.
    var schemaName = "repairminder"
    /// What the rows of this daemon are called among others.
    var instance: String
    /// The entities; empty for all.
    var entities: [String] = []
    var keepsHistory = false
    /// Stops once everything is fed.
    var once = false

    /// Why an address cannot be one; nil if it may be.
    static func mistake(in target: String) -> String? {
        if target.hasPrefix("postgresql://") || target.hasPrefix("postgres://") || target.contains("=") { return nil }
        return "--to: expected an address such as postgresql:///reports or service=reports"
    }

    /// Whether the address has a password in it, which every user of the machine can see in the list of processes.
    static func hasPassword(_ target: String) -> Bool {
        // In a connection string, spaces may be around the sign.
        if target.filter({ !$0.isWhitespace }).contains("password=") { return true }
        guard let start = target.firstRange(of: "://")?.upperBound else { return false }
        let authority = target[start...].prefix { $0 != "/" && $0 != "?" }
        guard let at = authority.lastIndex(of: "@") else { return false }
        return authority[..<at].contains(":")
    }

    /// What is wrong with a connection by these settings of libpq: others on the way could pass for the database. Nil on this
    /// machine, and if the server has to show a certificate that is checked.
    static func weakness(of connection: [String: String]) -> String? {
        let mode = connection["sslmode"] ?? ""
        guard !mode.hasPrefix("verify-") else { return nil }
        let address = connection["hostaddr"] ?? ""
        let hosts = (address.isEmpty ? connection["host"] ?? "" : address).split(separator: ",")
        // A Unix socket is a path, or begins with @.
        guard let other = hosts.first(where: { !"/@".contains($0.prefix(1)) && !ownNames.contains($0.lowercased()) })
        else {
            return nil
        }
        return """
            warning: with sslmode=\(mode) others on the way to \(other) could read and change what is fed, and get the \
            password; use sslmode=verify-full
            """
    }

    private static let ownNames: Set<String> = ["localhost", "127.0.0.1", "::1"]

    /// Why a name cannot be that of an instance; nil if it can.
    static func mistake(inInstance name: String) -> String? {
        let isName = !name.isEmpty && name.utf8.count <= 200 && !name.unicodeScalars.contains { $0.value < 0x20 }
        return isName ? nil : "--instance: expected a name of 1 to 200 bytes without control characters"
    }

    /// Why a name cannot be that of a schema; nil if it can.
    static func mistake(inSchemaName name: String) -> String? {
        let isName = !name.isEmpty && name.utf8.count <= PostgresText.longestName && !name.utf8.contains(0)
        return isName && !name.hasPrefix("pg_") ? nil : "--schema-name: expected a name of 1 to 63 bytes, not pg_…"
    }
}
