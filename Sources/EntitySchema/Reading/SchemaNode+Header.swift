extension SchemaNode {
    /// Checks the name and the text of a header that the schema adds to requests. `mayAccept`: it may be `Accept`.
    func checkHeader(_ name: String, _ text: String, mayAccept: Bool = false) throws(SchemaError) {
        try checkHeaderName(name)
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
            throw error("expected the text of a header in ASCII")
        }
        guard !Self.ownHeaders.contains(name.lowercased()) || mayAccept && name.lowercased() == "accept" else {
            throw error("\(name) is set by the daemon itself; remove it")
        }
    }

    /// The text of this place, the value of a header that the schema adds to requests.
    func addedHeader(_ name: String, mayAccept: Bool = false) throws(SchemaError) -> String {
        let text = try string()
        try checkHeader(name, text, mayAccept: mayAccept)
        guard name.lowercased() != "authorization" else {
            throw error("\(name) is set by the daemon itself; say how in auth.send")
        }
        return text
    }

    /// The name of a header, as the text of this place.
    func headerName() throws(SchemaError) -> String {
        let name = try string()
        try checkHeaderName(name)
        return name
    }

    /// The name of the header that says which version a change is based on.
    func versionHeaderName() throws(SchemaError) -> String {
        let name = try headerName()
        if name.lowercased() != "if-match" { try checkHeader(name, "") }
        guard name.lowercased() != "if-unmodified-since" else {
            throw error(
                "\(name) takes a time in a form that is not sent here, so servers would ignore it; remove version")
        }
        return name
    }

    func checkHeaderName(_ name: String) throws(SchemaError) {
        guard !name.isEmpty, name.utf8.allSatisfy(Self.isInName) else { throw error("expected the name of a header") }
    }

    private static func isInName(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || (0x30...0x39).contains(byte)
            || (0x41...0x5A).contains(byte & 0xDF)
    }

    /// Those that say what is sent and over which connection.
    private static let ownHeaders: Set = [
        "accept", "connection", "content-length", "content-type", "expect", "host", "if-match", "transfer-encoding",
        "upgrade",
    ]
}
