/// Refuses credentials that stand in the schema itself, where everyone who reads the file sees them and no log hides them.
///
/// It reads the file as it is written, before settings are filled in, and once the schema is known to be valid.
struct CredentialCheck {
    let root: SchemaNode
    /// Those of the entity: a body may give a field another name, and then has the field's as its value.
    private var fields: Set<String> = []

    init(root: SchemaNode) { self.root = root }

    func run() throws(SchemaError) {
        guard let upstream = root.child("upstream") else { return }
        for (name, node) in try upstream.members() { try check(node, name, isSignIn: name == "auth") }
        for (_, entity) in try root.child("entities")?.members() ?? [] {
            var check = self
            check.fields = Set(try entity.child("fields")?.members().map(\.name) ?? [])
            for name in ["pull", "push", "content"] {
                if let node = entity.child(name) { try check.check(node, name, isSignIn: false) }
            }
        }
    }

    /// Keys of mappings from names to what is sent under them.
    private static let sent: Set<String> = ["headers", "query", "body", "parameters", "basic"]

    private func check(_ node: SchemaNode, _ name: String, isSignIn: Bool) throws(SchemaError) {
        if node.isMapping {
            if Self.sent.contains(name) { try checkNames(in: node, of: name, isSignIn: isSignIn) }
            for (name, child) in try node.members() { try check(child, name, isSignIn: isSignIn) }
        } else if node.isSequence {
            for element in try node.elements() { try check(element, name, isSignIn: isSignIn) }
        } else if let text = node.value.text {
            try checkAddress(text, node)
        }
    }

    /// `place`: `headers`, `query`, `body`.
    private func checkNames(in node: SchemaNode, of place: String, isSignIn: Bool) throws(SchemaError) {
        for (name, value) in try node.members() {
            if ["$fields", "$record"].contains(name) {
                try checkConstants(in: value, of: place, isSignIn: isSignIn)
                continue
            }
            if value.isMapping {
                try checkNames(in: value, of: place, isSignIn: isSignIn)
                continue
            }
            for element in try value.oneOrMore() {
                if element.isMapping {
                    try checkNames(in: element, of: place, isSignIn: isSignIn)
                } else if let text = element.value.text, Self.isCredential(name), Self.isLiteral(text),
                    !fields.contains(text)
                {
                    throw element.error(Self.problem(name, place, isSignIn: isSignIn))
                }
            }
        }
    }

    /// Among names of fields, a text that is sent stands after `$text`.
    private func checkConstants(in node: SchemaNode, of place: String, isSignIn: Bool) throws(SchemaError) {
        guard node.isMapping else { return }
        for (name, value) in try node.members() {
            for element in try value.oneOrMore() where element.isMapping {
                if let constant = element.child(BodyReader.text), let text = constant.value.text,
                    Self.isCredential(name), Self.isLiteral(text)
                {
                    throw constant.error(Self.problem(name, place, isSignIn: isSignIn))
                }
                try checkConstants(in: element, of: place, isSignIn: isSignIn)
            }
        }
    }

    private static func problem(_ name: String, _ place: String, isSignIn: Bool) -> String {
        let stored = name.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? String($0) : "_" }.joined()
        if isSignIn {
            return "\(says(name)); write \"{$secret.\(stored)}\", and store it as upstream.secrets.\(stored)"
        }
        let send =
            switch place {
            case "headers":
                ", with auth: { send: { header: \(name) } }; a second one as \"{$secret.\(stored)}\", stored as "
                    + "upstream.secrets.\(stored)"
            case "query": ", with auth: { send: { query: \(name) } }"
            default: ""
            }
        return "\(says(name)); store it in the file that upstream.token_file names\(send)"
    }

    private static func says(_ name: String) -> String {
        "\(name) looks like a credential, which must not stand in the schema"
    }

    // MARK: Addresses

    /// `https://user:password@host`, and `/orders?api_key=abc`.
    private func checkAddress(_ text: String, _ node: SchemaNode) throws(SchemaError) {
        guard let address = text.split(separator: " ").last, !address.isEmpty else { return }
        if let scheme = address.firstRange(of: "://") {
            let host = address[scheme.upperBound...].prefix { !"/?#".contains($0) }
            if let user = host.lastIndex(of: "@"), Self.isLiteral(String(host[..<user])) {
                throw node.error(
                    "credentials must not stand in an address; write auth: { send: { basic: true } }, and store "
                        + "user:password in the file that upstream.token_file names")
            }
        } else if !address.hasPrefix("/") {
            return
        }
        guard let question = address.firstIndex(of: "?") else { return }
        for item in address[address.index(after: question)...].split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, Self.isCredential(parts[0]), Self.isLiteral(parts[1]) else { continue }
            throw node.error(Self.problem(parts[0], "query", isSignIn: false))
        }
    }

    // MARK: What is a credential

    private static let names: Set<String> = ["token", "xtoken", "pwd", "pass", "cookie"]
    /// Tokens of pages and of changes are no credentials.
    private static let endings = [
        "apikey", "appkey", "applicationkey", "accesskey", "authkey", "secretkey", "subscriptionkey", "apitoken",
        "accesstoken", "authtoken", "bearertoken", "privatetoken", "refreshtoken", "sessiontoken", "secret", "password",
        "passwd", "passphrase", "authorization",
    ]
    private static let noValues: Set<String> = ["", "true", "false", "yes", "no", "null", "none", "0", "1", "*"]

    private static func isCredential(_ name: String) -> Bool {
        let letters = name.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        return names.contains(letters) || endings.contains { letters.hasSuffix($0) }
    }

    /// Whether a text names nothing: no setting, no stored credential, no field.
    private static func isLiteral(_ text: String) -> Bool {
        !text.contains("{") && !text.hasPrefix("$") && !noValues.contains(text.lowercased())
    }
}
