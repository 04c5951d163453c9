/// The command line.
struct Options {
    /// The folder with `<entity>.ndjson`; without one there are no lists.
    private(set) var data: String?
    private(set) var pageSize = 500
    private(set) var host = "127.0.0.1"
    private(set) var port: UInt16 = 0
    /// A folder whose files are served as they are.
    private(set) var files: String?
    /// Where to write what `curl -K` needs to download every page.
    private(set) var urls: String?

    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    init(_ arguments: [String]) throws(Unusable) {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else { throw Unusable(description: "\(name) needs a value") }
            switch name {
            case "--data": data = value
            case "--page-size": pageSize = try Self.positive(value, name)
            case "--listen": (host, port) = try Self.address(value)
            case "--files": files = value
            case "--urls": urls = value
            default: throw Unusable(description: "there is no option \(name)")
            }
        }
    }

    private static func positive(_ value: String, _ name: String) throws(Unusable) -> Int {
        guard let number = Int(value), number > 0 else {
            throw Unusable(description: "\(name) takes a whole number from 1, not \(value)")
        }
        return number
    }

    private static func address(_ value: String) throws(Unusable) -> (String, UInt16) {
        guard let colon = value.lastIndex(of: ":"), let port = UInt16(value[value.index(after: colon)...]) else {
            throw Unusable(description: "--listen takes host:port, such as 127.0.0.1:0, not \(value)")
        }
        return (String(value[..<colon]), port)
    }
}
